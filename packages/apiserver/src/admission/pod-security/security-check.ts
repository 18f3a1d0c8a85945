/** The input of a Pod Security check, and the wording of its violations. */
import { type JsonObject, objectAt, objectsAt, stringAt } from "../../registry/json-fields.ts";

/** A pod, or the template of one. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: JsonObject;
  /** Init, ordinary and ephemeral containers, in this order. */
  readonly containers: readonly JsonObject[];
}

/** Why a pod is outside of a level: `reason (detail)` in messages. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export interface SecurityCheck {
  /** Findings are in the order of these, as upstream's are. */
  readonly id: string;
  /** Baseline checks that this one of the restricted level makes needless. */
  readonly overrides?: readonly string[];
  /** The first minor version of Kubernetes 1 that has it. */
  readonly since: number;
  check(pod: CheckedPod, minor: number): Violation | undefined;
}

export function checkedPod(pod: unknown): CheckedPod {
  const spec = objectAt(pod, "spec");
  const annotations = objectAt(pod, "metadata", "annotations") as Readonly<Record<string, string>>;
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((field) => objectsAt(spec, field));
  return { annotations, spec, containers };
}

export function contextOf(holder: JsonObject): JsonObject {
  return objectAt(holder, "securityContext");
}

/** Names of the containers that are so. */
export function namesOf({ containers }: CheckedPod, isSo: (container: JsonObject) => boolean): readonly string[] {
  return containers.filter(isSo).map((container) => stringAt(container, "name"));
}

export function quoted(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(", ");
}

/** `container "a"`, `containers "a", "b"`. */
export function counted(noun: string, names: readonly string[]): string {
  return `${noun}${names.length === 1 ? "" : "s"} ${quoted(names)}`;
}

/** `pod and container "a"`: the parts of the pod that set the checked field. */
export function setters(isPod: boolean, containers: readonly string[]): string {
  const named = containers.length === 0 ? [] : [counted("container", containers)];
  return [...(isPod ? ["pod"] : []), ...named].join(" and ");
}

/** Without repetition, sorted. */
export function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}

export function stringsAt(parent: JsonObject, ...path: readonly [string, string]): readonly string[] {
  const value = objectAt(parent, path[0])[path[1]];
  return Array.isArray(value) ? value.map(String) : [];
}
