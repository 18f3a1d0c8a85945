/** Names and amounts of resources, as quotas, limit ranges, containers and nodes have them. */
import { type FieldError, validateQualifiedName } from "@setpoint/apimachinery";
import { forbidden, invalidValue, required } from "../field-errors.ts";
import { type JsonObject, objectAt, textOf } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";

const one = 1_000_000_000n;
const nativePrefix = "kubernetes.io/";
const hugePagesPrefix = "hugepages-";

const containerResources: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Resources that are counted. */
const counted: ReadonlySet<string> = new Set(
  "pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers".split(
    " ",
  ),
);
const quotaResources: ReadonlySet<string> = new Set([
  ...counted,
  ...["cpu", "memory", "ephemeral-storage", "requests.storage"],
  ...["requests.cpu", "requests.memory", "requests.ephemeral-storage"],
  ...["limits.cpu", "limits.memory", "limits.ephemeral-storage"],
]);

export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith(`requests.${hugePagesPrefix}`);
}

export function isHugePages(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes(nativePrefix);
}

/** Of a device plugin, for example: `example.com/gpu`. */
function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith("requests.")) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

/** What is requested of other resources must be what they are limited to. */
export function mayOvercommit(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

/** Whether a name is that of a resource. */
export function resourceNameErrors(name: string, at: string): FieldError[] {
  const faults = validateQualifiedName(name).map((fault) => invalidValue(at, name, fault));
  if (faults.length > 0 || name.includes("/") || name === "storage" || isQuotaResource(name)) return faults;
  return [invalidValue(at, name, "must be a standard resource type or fully qualified")];
}

/** Whether a container may ask for it. */
export function containerResourceNameErrors(name: string, at: string): FieldError[] {
  const errors = resourceNameErrors(name, at);
  if (!name.includes("/")) {
    if (!containerResources.has(name) && !isHugePages(name))
      errors.push(invalidValue(at, name, "must be a standard resource for containers"));
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalidValue(at, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

/** Amounts are not negative, and whole where things are counted. */
export function resourceAmountErrors(name: string, value: unknown, at: string): FieldError[] {
  const nanos = quantityNanos(textOf(value)) ?? 0n;
  const errors: FieldError[] = [];
  if (nanos < 0n) errors.push(invalidValue(at, value, "must be greater than or equal to 0"));
  if ((counted.has(name) || isExtended(name)) && nanos % one !== 0n)
    errors.push(invalidValue(at, value, "must be an integer"));
  return errors;
}

/** Requests and limits of a container, or the overhead of a class of pods. */
export function requirementErrors(resources: JsonObject, at: string): readonly FieldError[] {
  const limits = objectAt(resources, "limits");
  const requests = objectAt(resources, "requests");
  const errors = [...listErrors(limits, `${at}.limits`)];
  for (const [name, request] of Object.entries(requests)) {
    errors.push(...listErrors({ [name]: request }, `${at}.requests`));
    errors.push(...requestErrors(name, request, limits[name], at));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory"))
    errors.push(forbidden(at, "HugePages require cpu or memory"));
  return errors;
}

function listErrors(amounts: JsonObject, at: string): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, value]) => [
    ...containerResourceNameErrors(name, `${at}[${name}]`),
    ...resourceAmountErrors(name, value, `${at}[${name}]`),
    ...hugePagesErrors(name, value, `${at}[${name}]`),
  ]);
}

function hugePagesErrors(name: string, value: unknown, at: string): readonly FieldError[] {
  if (!isHugePages(name)) return [];
  const size = quantityNanos(name.slice(hugePagesPrefix.length)) ?? 0n;
  const nanos = quantityNanos(textOf(value)) ?? 0n;
  if (size > 0n && size % one === 0n && nanos % size === 0n) return [];
  return [invalidValue(at, value, `${textOf(value)} is not positive integer multiple of ${name}`)];
}

function requestErrors(name: string, request: unknown, limit: unknown, at: string): readonly FieldError[] {
  if (limit === undefined)
    return mayOvercommit(name) ? [] : [required(`${at}.limits`, "Limit must be set for non overcommitable resources")];
  const over = (quantityNanos(textOf(request)) ?? 0n) - (quantityNanos(textOf(limit)) ?? 0n);
  const detail = (relation: string): FieldError[] => [
    invalidValue(`${at}.requests`, request, `must be ${relation} ${name} limit of ${textOf(limit)}`),
  ];
  if (over !== 0n && !mayOvercommit(name)) return detail("equal to");
  return over > 0n ? detail("less than or equal to") : [];
}
