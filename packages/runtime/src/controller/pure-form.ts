/** The pure form as data: what should be there, asked of a function in this process or of a hook anywhere. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ChildUpdate, ConditionInit } from "./reconcile-context.ts";
import type { OwnedKind } from "./owned-selection.ts";
import type { CacheReader } from "./watch-definition.ts";

/** Kinds by name. */
export type KindsByName = Readonly<Record<string, KindRef>>;

/** Kinds by the name under which `desired` gets their objects. */
export type OwnedKinds = Readonly<Record<string, OwnedKind>>;

/** The objects of owned kinds, under the same names. */
export type OwnedObjects<O extends OwnedKinds> = {
  readonly [Name in keyof O]: O[Name] extends OwnedKind<infer T> ? readonly Stored<T>[] : never;
};

/** What should be there. */
export interface Desired<Status extends object = object> {
  /** Applied with the owner reference; owned objects that are no longer here are deleted. */
  readonly children: readonly KubeObject[];
  readonly status?: Status;
  readonly conditions?: readonly ConditionInit[];
  /** Ask again after so long, also when nothing has changed. */
  readonly resyncAfterMs?: number;
}

/** What should be there while the object goes away. */
export interface Finalized<Status extends object = object> extends Desired<Status> {
  /** Whether nothing is left to do, so that the object may go. */
  readonly finalized: boolean;
}

/** Objects of one related kind; of those that have all of it. */
export interface RelatedSelector {
  /** Default: the namespace of the object; an object in a namespace cannot look into another one. */
  readonly namespace?: string;
  readonly names?: readonly string[];
  /** Labels that must all have these values. */
  readonly labels?: Readonly<Record<string, string>>;
}

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
  readonly owns: KindsByName;
  readonly related: KindsByName;
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
export function ownedByKind(
  kinds: KindsByName,
  owned: (kind: KindRef) => readonly Stored<KubeObject>[],
): ObjectsByKind {
  return Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, owned(kind)]));
}
