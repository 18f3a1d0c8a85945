/**
 * LimitRanger: gives containers the namespace's default requests and limits, and holds pods and claims to its
 * bounds.
 */
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  podResources,
  type Quantity,
  readAmounts,
  type ResourceAmounts,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { ensureObject, type JsonObject, objectAt, objectsAt, stringAt } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "./namespace-lifecycle.ts";

const annotation = "kubernetes.io/limit-ranger";

export const limitRanger: AdmissionPlugin = {
  name: "LimitRanger",
  async admit(request) {
    const { object, definition } = request;
    if (object === undefined || definition.resource !== "pods" || request.operation !== "CREATE" || !isLimited(request))
      return;
    for (const range of rangesOf(request)) setDefaults(object as unknown as JsonObject, range);
  },
  async validate(request) {
    const { object } = request;
    if (object === undefined || !isLimited(request)) return;
    const problems = rangesOf(request).flatMap((range) =>
      objectsAt(range, "spec", "limits").flatMap((limit) => limitProblems(limit, object)),
    );
    if (problems.length === 0) return;
    const distinct = [...new Set(problems)];
    throw forbiddenByAdmission(request, distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`);
  },
};

/** The resources of a pod change by its subresource `resize` alone. */
function isLimited({ definition, operation, subresource }: AdmissionRequest): boolean {
  if (definition.group !== "") return false;
  if (definition.resource === "pods") return operation === "CREATE" ? subresource === "" : subresource === "resize";
  if (definition.resource !== "persistentvolumeclaims" || subresource !== "") return false;
  return operation === "CREATE" || operation === "UPDATE";
}

function rangesOf({ reader, namespace }: AdmissionRequest): readonly UnstructuredObject[] {
  return reader.list("", "limitranges", namespace);
}

function setDefaults(pod: JsonObject, range: UnstructuredObject): void {
  const limits = objectsAt(range, "spec", "limits").filter(({ type }) => type === "Container");
  const defaults = (field: string): JsonObject => Object.assign({}, ...limits.map((each) => objectAt(each, field)));
  const wanted = [
    ["requests", "request", defaults("defaultRequest")],
    ["limits", "limit", defaults("default")],
  ] as const;
  const set: string[] = [];
  for (const [list, kind] of [
    ["containers", "container"],
    ["initContainers", "init container"],
  ] as const) {
    for (const container of objectsAt(pod, "spec", list)) {
      for (const [field, noun, values] of wanted) {
        const names = fill(container, field, values);
        if (names.length > 0) set.push(`${names.join(", ")} ${noun} for ${kind} ${stringAt(container, "name")}`);
      }
    }
  }
  if (set.length > 0)
    ensureObject(ensureObject(pod, "metadata"), "annotations")[annotation] =
      `LimitRanger plugin set: ${set.join("; ")}`;
}

/** The names of the resources that were missing. */
function fill(container: JsonObject, field: string, values: JsonObject): readonly string[] {
  const present = objectAt(container, "resources", field);
  const missing = Object.keys(values)
    .filter((name) => present[name] === undefined)
    .sort();
  if (missing.length === 0) return missing;
  const target = ensureObject(ensureObject(container, "resources"), field);
  for (const name of missing) target[name] = values[name];
  return missing;
}

/** What is bounded: a container, the whole pod, or a claim. */
interface Bounded {
  readonly type: string;
  readonly requests: ResourceAmounts;
  readonly limits: ResourceAmounts;
}

function limitProblems(limit: JsonObject, object: UnstructuredObject): readonly string[] {
  const type = stringAt(limit, "type");
  return boundedBy(type, object).flatMap((bounded) => [
    ...amountsOf(limit, "min").flatMap(([name, min]) => minProblems(bounded, name, min)),
    ...amountsOf(limit, "max").flatMap(([name, max]) => maxProblems(bounded, name, max)),
    ...amountsOf(limit, "maxLimitRequestRatio").flatMap(([name, ratio]) => ratioProblems(bounded, name, ratio)),
  ]);
}

function boundedBy(type: string, object: UnstructuredObject): readonly Bounded[] {
  if (object.kind === "PersistentVolumeClaim") {
    if (type !== "PersistentVolumeClaim") return [];
    return [{ type, requests: readAmounts(objectAt(object, "spec", "resources", "requests")), limits: {} }];
  }
  if (type === "Pod")
    return [{ type, requests: podResources(object, "requests"), limits: podResources(object, "limits") }];
  if (type !== "Container") return [];
  return [...objectsAt(object, "spec", "containers"), ...objectsAt(object, "spec", "initContainers")].map(
    (container) => ({
      type,
      requests: readAmounts(objectAt(container, "resources", "requests")),
      limits: readAmounts(objectAt(container, "resources", "limits")),
    }),
  );
}

function amountsOf(limit: JsonObject, field: string): readonly (readonly [string, Quantity])[] {
  return Object.entries(readAmounts(objectAt(limit, field))).sort(([left], [right]) => (left < right ? -1 : 1));
}

function minProblems({ type, requests, limits }: Bounded, name: string, min: Quantity): readonly string[] {
  const what = `minimum ${name} usage per ${type} is ${formatQuantity(min)}`;
  const request = requests[name];
  if (request === undefined) return [`${what}.  No request is specified`];
  if (compareQuantities(request, min) < 0) return [`${what}, but request is ${formatQuantity(request)}`];
  const limit = limits[name];
  return limit !== undefined && compareQuantities(limit, min) < 0
    ? [`${what}, but limit is ${formatQuantity(limit)}`]
    : [];
}

function maxProblems({ type, requests, limits }: Bounded, name: string, max: Quantity): readonly string[] {
  const what = `maximum ${name} usage per ${type} is ${formatQuantity(max)}`;
  const request = requests[name];
  const isOver = (amount: Quantity | undefined): amount is Quantity =>
    amount !== undefined && compareQuantities(amount, max) > 0;
  if (type === "PersistentVolumeClaim") {
    if (request === undefined) return [`${what}.  No request is specified`];
    return isOver(request) ? [`${what}, but request is ${formatQuantity(request)}`] : [];
  }
  const limit = limits[name];
  if (limit === undefined) return [`${what}.  No limit is specified`];
  if (isOver(limit)) return [`${what}, but limit is ${formatQuantity(limit)}`];
  return isOver(request) ? [`${what}, but request is ${formatQuantity(request)}`] : [];
}

const zero = parseQuantity(0);

function ratioProblems({ type, requests, limits }: Bounded, name: string, ratio: Quantity): readonly string[] {
  const what = `${name} max limit to request ratio per ${type} is ${formatQuantity(ratio)}`;
  const { nanos: request } = requests[name] ?? zero;
  const { nanos: limit } = limits[name] ?? zero;
  if (request === 0n) return [`${what}, but no request is specified or request is 0`];
  if (limit === 0n) return [`${what}, but no limit is specified or limit is 0`];
  const provided = Number(limit) / Number(request);
  return limit * 1_000_000_000n > ratio.nanos * request
    ? [`${what}, but provided ratio is ${provided.toFixed(6)}`]
    : [];
}
