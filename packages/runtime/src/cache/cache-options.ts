import type { KindRef } from "@setpoint/client";
import type { InformerOptions } from "./informer.ts";

/** How the objects of one kind are cached. */
export interface KindCacheOptions extends InformerOptions {
  readonly kind: KindRef;
}

/** What is cached, and how. */
export interface CacheOptions {
  /**
   * Settings by kind: a selection of its objects, their metadata alone, a projection. An entry with a `namespace` is for that
   * namespace's cache; of several that fit, the first counts. What a controller selects itself goes before them.
   */
  readonly kinds?: readonly KindCacheOptions[];
  /** Whether cached objects are frozen; default true. Costs about half as much as decoding them. */
  readonly freeze?: boolean;
  /**
   * What to do about a cache of all Secrets of all namespaces, with their data: it puts every password of the cluster into this
   * process. Default `warn`.
   */
  readonly unboundedSecrets?: "allow" | "warn" | "refuse";
}

/** The options of a cache: what its user asks for, over what is set for its kind. */
export function informerOptions(
  { kinds = [], freeze }: CacheOptions,
  kind: KindRef,
  asked: InformerOptions,
): InformerOptions {
  const set = kinds.find(
    (each) => isSame(each.kind, kind) && (each.namespace === undefined || each.namespace === asked.namespace),
  );
  const { kind: _kind, ...own } = set ?? { kind };
  return { ...(freeze === undefined ? {} : { freeze }), ...own, ...asked };
}

export function isUnboundedSecrets(kind: KindRef, options: InformerOptions): boolean {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = options;
  const isBounded = [namespace, labelSelector, fieldSelector].some((each) => each !== undefined);
  return kind.group === "" && kind.kind === "Secret" && !isBounded && metadataOnly !== true;
}

function isSame(a: KindRef, b: KindRef): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind;
}
