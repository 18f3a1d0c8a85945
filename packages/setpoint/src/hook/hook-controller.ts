/** A controller whose function is behind a hook: in any language, anywhere that HTTP reaches. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import {
  pureController,
  type Asked,
  type ChildUpdate,
  type ControllerDefinition,
  type ControllerOptions,
  type Finalized,
  type KindsByName,
  type PureForm,
} from "@setpoint/runtime";
import type { HookCaller } from "./hook-caller.ts";
import { onWire, parseCustomizeResponse, parseSyncResponse, type SyncRequest } from "./hook-contract.ts";

/** A controller whose decisions come from hooks: its kind, its children and the hooks to call. */
export interface HookControllerOptions extends Omit<ControllerOptions<KubeObject>, "cleanup"> {
  readonly kind: KindRef;
  /** The kinds of which the hook may want children. */
  readonly children: readonly KindRef[];
  /** The kinds of which `customize` may name objects. */
  readonly related?: readonly KindRef[];
  readonly sync: HookCaller;
  /** Asked instead of `sync` once an object is being deleted; its presence adds a finalizer. */
  readonly finalize?: HookCaller;
  readonly customize?: HookCaller;
  /** What becomes of a child that differs from what the hook wants; default: changed in place. */
  update?(this: void, child: KubeObject): ChildUpdate;
  /** Ask again after so long also when nothing has changed; default: never. */
  readonly resyncPeriodMs?: number;
}

/**
 * Guarantees: the hook is asked for one object at a time, at most `concurrency` at once; what it answers is
 * checked before anything is written. Errors: `ERR_HOOK` when it does not answer well, `ERR_HOOK_ANSWER` for
 * what it may not answer; both are tried again with back-off.
 */
export function hookController(options: HookControllerOptions): ControllerDefinition {
  const { kind, children, related = [], sync, finalize, customize, update, resyncPeriodMs, ...rest } = options;
  const owns = named(children);
  const relatedKinds = named(related);
  const name = rest.name ?? kind.kind.toLowerCase();
  const ask = async (hook: HookCaller, asked: Asked, finalizing: boolean): Promise<Finalized> => {
    const request: SyncRequest = {
      controller: { metadata: { name } },
      parent: asked.object,
      children: onWire(owns, asked.owned, asked.object),
      related: onWire(relatedKinds, asked.related, asked.object),
      finalizing,
    };
    const answer = parseSyncResponse(hook.name, await hook.call(request, asked.signal));
    return resyncPeriodMs === undefined ? answer : { resyncAfterMs: resyncPeriodMs, ...answer };
  };
  const form: PureForm = {
    owns,
    related: relatedKinds,
    sync: (asked) => ask(sync, asked, false),
    ...(finalize === undefined ? {} : { finalize: (asked) => ask(finalize, asked, true) }),
    ...(customize === undefined
      ? {}
      : {
          customize: async (parent, signal) =>
            parseCustomizeResponse(
              customize.name,
              await customize.call({ controller: { metadata: { name } }, parent }, signal),
              relatedKinds,
            ),
        }),
    ...(update === undefined ? {} : { update }),
  };
  return pureController<KubeObject>(kind, form, rest);
}

function named(kinds: readonly KindRef[]): KindsByName {
  return Object.fromEntries(kinds.map((kind) => [`${kind.kind}.${kind.group}`, kind]));
}
