/**
 * Single fields of pods: users, deadlines, DNS, spreading, and fields that environment variables refer to.
 */
import type { FieldError } from "@setpoint/apimachinery";
import { invalidValue, notSupported, required } from "../field-errors.ts";
import { type JsonObject, numberAt, objectAt, objectsAt, stringAt } from "../json-fields.ts";
import { sysctlErrors } from "./sysctl-validation.ts";

const int32Max = 2 ** 31 - 1;
const unsatisfiable = ["DoNotSchedule", "ScheduleAnyway"];

export function podFieldErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const nameservers = objectAt(spec, "dnsConfig")["nameservers"];
  const hasNameservers = Array.isArray(nameservers) && nameservers.length > 0;
  return [
    ...(spec["dnsPolicy"] === "None" && !hasNameservers ? [missingDns(spec["dnsConfig"], at)] : []),
    ...rangeErrors(spec, "activeDeadlineSeconds", 1, at),
    ...userErrors(objectAt(spec, "securityContext"), `${at}.securityContext`),
    ...rangeErrors(objectAt(spec, "securityContext"), "fsGroup", 0, `${at}.securityContext`),
    ...sysctlErrors(spec, `${at}.securityContext.sysctls`),
    ...spreadErrors(spec, at),
  ];
}

function missingDns(config: unknown, at: string): FieldError {
  if (config === undefined) return required(`${at}.dnsConfig`, "must provide `dnsConfig` when `dnsPolicy` is None");
  return required(`${at}.dnsConfig.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None");
}

/** The user and the group of a container, or of all containers. */
export function userErrors(context: JsonObject, at: string): readonly FieldError[] {
  return ["runAsUser", "runAsGroup"].flatMap((field) => rangeErrors(context, field, 0, at));
}

function rangeErrors(object: JsonObject, field: string, min: number, at: string): readonly FieldError[] {
  const value = numberAt(object, field);
  if (value === undefined || (value >= min && value <= int32Max)) return [];
  return [invalidValue(`${at}.${field}`, object[field], `must be between ${min} and ${int32Max}, inclusive`)];
}

function spreadErrors(spec: JsonObject, at: string): readonly FieldError[] {
  return objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
    const where = `${at}.topologySpreadConstraints[${index}]`;
    const errors: FieldError[] = [];
    const skew = numberAt(constraint, "maxSkew") ?? 0;
    if (skew <= 0) errors.push(invalidValue(`${where}.maxSkew`, skew, "must be greater than zero"));
    if (stringAt(constraint, "topologyKey") === "") errors.push(required(`${where}.topologyKey`, "can not be empty"));
    const otherwise = stringAt(constraint, "whenUnsatisfiable");
    if (!unsatisfiable.includes(otherwise))
      errors.push(notSupported(`${where}.whenUnsatisfiable`, otherwise, unsatisfiable));
    return errors;
  });
}

const fields: ReadonlySet<string> = new Set(
  "metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName status.hostIP status.hostIPs status.phase status.podIP status.podIPs".split(
    " ",
  ),
);

/** A field of the pod that becomes an environment variable. */
export function fieldErrors(reference: unknown, at: string): readonly FieldError[] {
  if (reference === undefined) return [];
  const path = stringAt(reference, "fieldPath");
  if (path === "") return [required(`${at}.fieldPath`)];
  if (fields.has(path) || /^metadata\.(labels|annotations)\['.*'\]$/.test(path)) return [];
  const problem = `error converting fieldPath: field label not supported: ${path}`;
  return [invalidValue(`${at}.fieldPath`, path, problem)];
}
