/**
 * The resource requests of a pod: the sum of its containers, or its largest init container if that is more.
 */
import type { UnstructuredObject } from "./object.ts";
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "./quantity.ts";

/** Quantities by the name of a resource. */
export type ResourceAmounts = Readonly<Record<string, Quantity>>;

/** A JSON object of unknown content. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The JSON object at a path. Empty when a field on the path is absent or no JSON object; never throws. */
export function fieldsAt(parent: unknown, ...path: readonly string[]): JsonFields {
  let current: unknown = parent;
  for (const field of path) current = isFields(current) ? current[field] : undefined;
  return isFields(current) ? current : {};
}

function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON objects of a list field, without other elements. Empty when the field is absent or no list. */
export function listAt(parent: JsonFields, field: string): readonly JsonFields[] {
  const value = parent[field];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** Quantities that cannot be parsed are left out: validation names them. */
export function readAmounts(values: JsonFields): ResourceAmounts {
  const amounts: Record<string, Quantity> = {};
  for (const [name, value] of Object.entries(values)) {
    const amount = readQuantity(value);
    if (amount !== undefined) amounts[name] = amount;
  }
  return amounts;
}

export function readQuantity(value: unknown): Quantity | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  try {
    return parseQuantity(value);
  } catch {
    return undefined;
  }
}

/**
 * The sum for each resource; a resource that only one side has keeps its amount. Changes neither argument.
 */
export function addAmounts(one: ResourceAmounts, other: ResourceAmounts): ResourceAmounts {
  const sum: Record<string, Quantity> = { ...one };
  for (const [name, amount] of Object.entries(other)) {
    const present = sum[name];
    sum[name] = present === undefined ? amount : addQuantities(present, amount);
  }
  return sum;
}

/** The larger of both, resource by resource. */
export function maxAmounts(one: ResourceAmounts, other: ResourceAmounts): ResourceAmounts {
  const larger: Record<string, Quantity> = { ...one };
  for (const [name, amount] of Object.entries(other)) {
    const present = larger[name];
    if (present === undefined || compareQuantities(present, amount) < 0) larger[name] = amount;
  }
  return larger;
}

/**
 * Requests or limits of a pod, its overhead included. Init containers that go on running count like ordinary
 * ones.
 */
export function podResources(pod: UnstructuredObject, field: "requests" | "limits"): ResourceAmounts {
  const spec = fieldsAt(pod, "spec");
  const of = (container: JsonFields): ResourceAmounts => readAmounts(fieldsAt(container, "resources", field));
  let running = listAt(spec, "containers").map(of).reduce(addAmounts, {});
  let starting: ResourceAmounts = {};
  let sidecars: ResourceAmounts = {};
  for (const container of listAt(spec, "initContainers")) {
    if (container["restartPolicy"] === "Always") {
      running = addAmounts(running, of(container));
      sidecars = addAmounts(sidecars, of(container));
      starting = maxAmounts(starting, sidecars);
    } else starting = maxAmounts(starting, addAmounts(sidecars, of(container)));
  }
  const own = readAmounts(fieldsAt(spec, "resources", field));
  // The pod-level resources win over those of the containers.
  const total = { ...maxAmounts(running, starting), ...own };
  return addAmounts(total, readAmounts(fieldsAt(spec, "overhead")));
}
