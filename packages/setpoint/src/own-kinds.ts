/** The kinds that an operator brings: those that were made by `defineKind`. */
import { deepEqual, groupResource, isJsonObject, type KubeObject, SetpointError } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { CrdOptions } from "@setpoint/schema";

/** A kind that can say its own CustomResourceDefinition. */
export interface KindWithCrd extends KindRef {
  crd(options?: CrdOptions): KubeObject;
}

/**
 * Each kind once, also one that was defined twice with the same schema. Errors: `ERR_KIND_TWICE` for two
 * definitions that differ: only one of them can be installed.
 */
export function ownKinds(operator: string, used: readonly KindRef[]): readonly KindWithCrd[] {
  const kinds: KindWithCrd[] = [];
  for (const kind of new Set(used.filter(hasCrd))) {
    const same = kinds.find((each) => isSameDefinition(each, kind));
    if (same === undefined) kinds.push(kind);
    else requireEqual(operator, same, kind);
  }
  return kinds;
}

function hasCrd(kind: KindRef): kind is KindWithCrd {
  return "crd" in kind && typeof kind.crd === "function";
}

/** Whether both would be one CustomResourceDefinition. */
function isSameDefinition(a: KindRef, b: KindRef): boolean {
  return a.group === b.group && (a.kind === b.kind || a.plural === b.plural);
}

function requireEqual(operator: string, a: KindWithCrd, b: KindWithCrd): void {
  const path = firstDifference(a.crd(), b.crd());
  if (path === undefined) return;
  const name = groupResource({ group: b.group, resource: b.kind });
  const message = `Cannot define operator "${operator}": ${name} is defined twice, and the definitions differ at ${path}; use one defineKind, with other versions in its \`versions\``;
  throw new SetpointError("ERR_KIND_TWICE", message);
}

/** The path of the first field with another value; undefined when there is none. */
function firstDifference(a: unknown, b: unknown, path = ""): string | undefined {
  if (deepEqual(a, b)) return undefined;
  const isNested = (isJsonObject(a) && isJsonObject(b)) || (Array.isArray(a) && Array.isArray(b));
  if (!isNested) return path;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  const keys = new Set([...left.map(([key]) => key), ...right.keys()]);
  const values = new Map(left);
  for (const key of keys) {
    const found = firstDifference(values.get(key), right.get(key), path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return path;
}
