/** What of an object's change is worth a run: for `predicate` of a controller and of a watch. */
import { deepEqual } from "@setpoint/apimachinery";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { valueAt, type ObjectPath } from "./field-path.ts";

/** Asked when the cache shows a change; additions, deletions and the begin of a deletion always wake. */
export type Predicate<T extends KubeObject = KubeObject> = (old: Stored<T>, next: Stored<T>) => boolean;

/**
 * The spec has changed. Kinds without a generation (ConfigMap, Secret, …) cannot tell, so every change
 * counts.
 */
export function generationChanged<T extends KubeObject>(): Predicate<T> {
  return (old, next) => next.metadata.generation === undefined || old.metadata.generation !== next.metadata.generation;
}

/** Any of these labels has changed; without names: any label. */
export function labelsChanged<T extends KubeObject>(...names: readonly string[]): Predicate<T> {
  return (old, next) => differs(old.metadata.labels, next.metadata.labels, names);
}

/** Any of these annotations has changed; without names: any annotation. */
export function annotationsChanged<T extends KubeObject>(...names: readonly string[]): Predicate<T> {
  return (old, next) => differs(old.metadata.annotations, next.metadata.annotations, names);
}

/**
 * Any of these fields has changed: `changed("spec.size", "spec.version")`; the compiler knows the kind's
 * fields.
 */
export function changed<T extends KubeObject>(...paths: readonly [ObjectPath<T>, ...ObjectPath<T>[]]): Predicate<T> {
  return (old, next) => paths.some((path) => !deepEqual(valueAt(old, path), valueAt(next, path)));
}

/** At least one of them says yes. */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (old, next) => predicates.some((predicate) => predicate(old, next));
}

/** All of them say yes. */
export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (old, next) => predicates.every((predicate) => predicate(old, next));
}

/** It says no. */
export function not<T extends KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return (old, next) => !predicate(old, next);
}

type StringMap = Readonly<Record<string, string>>;

function differs(old: StringMap = {}, next: StringMap = {}, names: readonly string[]): boolean {
  return names.length === 0 ? !deepEqual(old, next) : names.some((name) => old[name] !== next[name]);
}
