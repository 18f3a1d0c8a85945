/** The pure form as data: what should be there, asked of a function in this process or of a hook anywhere. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { CacheReader } from "./controller-definition.ts";
import type { Desired, Finalized, OwnedKinds } from "./controller-options.ts";
import type { ChildUpdate } from "./reconcile-context.ts";
import type { RelatedSelector } from "./related-selector.ts";

/** Objects by the name of their kind in the form. */
export type ObjectsByKind = Readonly<Record<string, readonly Stored<KubeObject>[]>>;

/** What the function is given. */
export interface Asked {
  readonly object: Stored<KubeObject>;
  readonly owned: ObjectsByKind;
  readonly related: ObjectsByKind;
  readonly cache: CacheReader;
  readonly signal: AbortSignal;
}

type Answer<T> = T | Promise<T>;

/** Metacontroller's contract: `sync`, `finalize`, `customize`. */
export interface PureForm {
  readonly owns: OwnedKinds;
  readonly related: OwnedKinds;
  sync(this: void, asked: Asked): Answer<Desired>;
  /** Asked instead of `sync` once the object is being deleted; its presence is what adds a finalizer. */
  finalize?(this: void, asked: Asked): Answer<Finalized>;
  /** Which objects of the related kinds this object's answer depends on; default: none. */
  customize?(
    this: void,
    object: Stored<KubeObject>,
    signal: AbortSignal,
  ): Answer<Readonly<Record<string, RelatedSelector>>>;
  /** What becomes of a child that differs; default: changed in place. */
  update?(this: void, child: KubeObject): ChildUpdate;
}

/** The children of an object by kind, as the cache shows them. */
export function ownedByKind(kinds: OwnedKinds, owned: (kind: KindRef) => readonly Stored<KubeObject>[]): ObjectsByKind {
  return Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, owned(kind)]));
}
