/** Rules about every single request and change of an operator. */
import { Namespace } from "@setpoint/api";
import type { ApiRequest, KubeObject, UnstructuredObject } from "@setpoint/apimachinery";
import { deletionOf } from "../deletion-request.ts";
import { foreignKey } from "../faults/foreign-key.ts";
import type { Hop } from "../onlooker.ts";
import type { Oracle, WorldView } from "./oracle.ts";

function isOperators({ who, kind }: Hop, view: WorldView): boolean {
  return kind === "write" && view.operators.includes(who);
}

/** The parsing border: bodies of requests and answers as far as these rules look into them. */
interface Body {
  readonly metadata?: UnstructuredObject["metadata"];
  readonly status?: unknown;
}

function bodyOf(value: unknown): Body {
  return typeof value === "object" && value !== null ? value : {};
}

/**
 * An operator deletes and evicts every object with the UID that it read, never by name or selector: another
 * object may have that name by now. In a namespace that is being terminated, or is gone, nobody can create
 * one.
 */
export const deletesByUid: Oracle = {
  name: "deletes only by UID",
  judge: (view) => ({
    passed(hop) {
      const { request, what } = hop;
      if (request === undefined || !isOperators(hop, view)) return undefined;
      const deletion = deletionOf(request);
      if (deletion === undefined || isInEndedNamespace(request, view)) return undefined;
      return deletion.uid === undefined
        ? `${what} names no UID: what has this name now may be another object`
        : undefined;
    },
  }),
};

function isInEndedNamespace({ path }: ApiRequest, view: WorldView): boolean {
  const name = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  if (name === undefined) return false;
  const namespace = view.get(Namespace, name);
  return namespace === undefined || namespace.metadata.deletionTimestamp !== undefined;
}

/** No object changes its controller, and none has two. */
export const singleController: Oracle = {
  name: "one controller",
  judge: () => ({
    changed({ previous, next }) {
      if (next === undefined) return undefined;
      const now = controllersOf(next);
      if (now.length > 1) return `${nameOf(next)} has ${now.length} controllers`;
      const [before] = previous === undefined ? [] : controllersOf(previous);
      if (before === undefined || now[0] === undefined || before === now[0]) return undefined;
      return `${nameOf(next)} was taken over: its controller was ${before}, and is ${now[0]}`;
    },
  }),
};

/** An operator that has taken its finalizer off an object makes no more children of it. */
export const nothingAfterCleanup: Oracle = {
  name: "nothing is made after the clean-up",
  judge(view) {
    const released = new Map<string, string>();
    return {
      changed({ previous, next, kind }) {
        const isOwn = view.controllers.some(
          (each) => each.kind.plural === kind.plural && each.kind.group === kind.group,
        );
        if (!isOwn || previous === undefined) return undefined;
        const had = previous.metadata.finalizers?.length ?? 0;
        const has = next?.metadata.finalizers?.length ?? 0;
        if (had > 0 && has === 0 && previous.metadata.deletionTimestamp !== undefined)
          released.set(previous.metadata.uid ?? "", nameOf(previous));
        return undefined;
      },
      passed(hop) {
        const { status, answer, what, outcome } = hop;
        if (released.size === 0 || status !== 201 || !isOperators(hop, view) || outcome.endsWith("(late)"))
          return undefined;
        const owner = bodyOf(answer).metadata?.ownerReferences?.find(({ uid }) => released.has(uid));
        return owner === undefined
          ? undefined
          : `${what}: its owner ${released.get(owner.uid)} was cleaned up before, and is gone`;
      },
    };
  },
};

/** What another client wrote into an object stays there. */
export const foreignFields: Oracle = {
  name: "leaves foreign fields alone",
  judge: () => ({
    changed({ previous, next }) {
      if (next === undefined || previous === undefined || previous.metadata.uid !== next.metadata.uid) return undefined;
      for (const field of ["labels", "annotations"] as const) {
        const had = previous.metadata[field]?.[foreignKey];
        if (had !== undefined && next.metadata[field]?.[foreignKey] === undefined)
          return `${nameOf(next)} has lost one of its ${field}, "${foreignKey}", which another client had written`;
      }
      return undefined;
    },
  }),
};

/** A status is never about a spec that its writer cannot have seen. */
export const honestStatus: Oracle = {
  name: "honest status",
  judge: () => ({
    changed({ next }) {
      const { generation } = next?.metadata ?? {};
      if (next === undefined || generation === undefined) return undefined;
      const status = statusOf(next);
      const seen = [status.observedGeneration, ...(status.conditions ?? []).map((each) => each.observedGeneration)];
      const ahead = seen.find((each) => each !== undefined && each > generation);
      return ahead === undefined
        ? undefined
        : `${nameOf(next)} says that generation ${ahead} was seen, and it is at ${generation}`;
    },
  }),
};

interface StatusBody {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly observedGeneration?: number }[];
}

function statusOf(object: UnstructuredObject): StatusBody {
  const { status } = object as UnstructuredObject & { readonly status?: StatusBody | null };
  return status ?? {};
}

function controllersOf({ metadata }: UnstructuredObject | KubeObject): readonly string[] {
  return (metadata.ownerReferences ?? []).filter(({ controller }) => controller === true).map(({ uid }) => uid);
}

function nameOf({ kind, metadata: { name = "", namespace } }: UnstructuredObject): string {
  return `${kind} "${namespace === undefined ? "" : `${namespace}/`}${name}"`;
}
