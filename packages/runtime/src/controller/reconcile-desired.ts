import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { DesiredOptions } from "./controller-options.ts";
import {
  ownedByKind,
  type Asked,
  type ObjectsByKind,
  type PureForm,
  type Desired,
  type KindsByName,
  type OwnedKinds,
  type OwnedObjects,
} from "./pure-form.ts";
import { kindOf } from "./owned-selection.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { awaitChange, requeueAfter, type Result } from "./result.ts";
import { RelatedObjects } from "./related-objects.ts";

/**
 * How soon a run repeats that found its own object changed on the server, where the cache did not show it
 * yet.
 */
const staleRetryMs = 100;

/** The part of a definition that follows from a pure form. */
export type PureDefinition = Pick<ControllerDefinition, "reconcile" | "watches" | "pure"> & {
  readonly finalize?: ControllerDefinition["cleanup"];
};

/**
 * A reconcile that applies the children and the status that a pure function asks for, and deletes children it
 * no longer does.
 */
export function reconcilePure(kind: KindRef, form: PureForm): PureDefinition {
  const related = new RelatedObjects(kind, form.related);
  const look = async (object: Stored<KubeObject>, context: ReconcileContext): Promise<Asked> => {
    const selectors = (await form.customize?.(object, context.signal)) ?? {};
    return {
      object,
      owned: ownedByKind(form.owns, context.children.list),
      related: related.of(object, selectors, context),
      cache: context,
      signal: context.signal,
    };
  };
  const { finalize } = form;
  return {
    pure: form,
    watches: related.watches(),
    reconcile: async (object, context) => {
      const asked = await look(object, context);
      return (await enact((again) => form.sync(again), asked, form, context)).result;
    },
    ...(finalize === undefined
      ? {}
      : {
          finalize: async (object, context) => {
            const asked = await look(object, context);
            const { answer, result } = await enact((again) => finalize(again), asked, form, context);
            return answer.finalized ? undefined : result;
          },
        }),
  };
}

/** Brings about what the function answers; says its last answer and when to ask again. */
async function enact<D extends Desired>(
  ask: (asked: Asked) => D | Promise<D>,
  asked: Asked,
  form: PureForm,
  context: ReconcileContext,
): Promise<{ readonly answer: D; readonly result: Result }> {
  const first = await ask(asked);
  const pruned = await context.children.apply(first.children, form.update === undefined ? {} : { update: form.update });
  // Asked again when children have come or gone: a status that counts them is right in the same run, and is
  // one write.
  const owned = ownedByKind(form.owns, context.children.list);
  const answer = isSame(owned, asked.owned) ? first : await ask({ ...asked, owned });
  context.condition(...(answer.conditions ?? []));
  if (answer.status !== undefined) await context.status(answer.status);
  if (pruned.kind === "postponed") return { answer, result: requeueAfter(staleRetryMs, pruned.reason) };
  if (answer.resyncAfterMs === undefined) return { answer, result: awaitChange() };
  return { answer, result: requeueAfter(answer.resyncAfterMs, "the function asked for it") };
}

/** Whether these are the very same objects; what is written is another object. */
function isSame(a: ObjectsByKind, b: ObjectsByKind): boolean {
  return Object.entries(a).every(([name, objects]) => {
    const others = b[name] ?? [];
    return objects.length === others.length && objects.every((each, index) => each === others[index]);
  });
}

/** The pure form of a function in this process. */
export function pureFormOf<T extends KubeObject>(options: DesiredOptions<T, OwnedKinds, KindsByName>): PureForm {
  const { owns = {}, related = {}, desired, finalize, customize } = options;
  // The objects and kinds are those of the options by construction.
  type Typed = [Stored<T>, OwnedObjects<OwnedKinds>, Asked["cache"], OwnedObjects<KindsByName>];
  const typed = (asked: Asked): Typed => [
    asked.object as Stored<T>,
    asked.owned as OwnedObjects<OwnedKinds>,
    asked.cache,
    asked.related as OwnedObjects<KindsByName>,
  ];
  return {
    owns: Object.fromEntries(Object.entries(owns).map(([name, each]) => [name, kindOf(each)])),
    related,
    sync: (asked) => desired(...typed(asked)),
    ...(finalize === undefined ? {} : { finalize: (asked) => finalize(...typed(asked)) }),
    ...(customize === undefined ? {} : { customize: (object) => definedOnly(customize(object as Stored<T>)) }),
  };
}

function definedOnly<V>(fields: { readonly [name: string]: V | undefined }): Readonly<Record<string, V>> {
  const entries = Object.entries(fields).filter((entry): entry is [string, V] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
