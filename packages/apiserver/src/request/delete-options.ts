/** The DeleteOptions of a request, from its body or its query. */
import { encodeJson, type FieldError, invalid, isJsonInteger, isJsonObject } from "@setpoint/apimachinery";
import { unsupportedDryRun } from "./write-options.ts";
import { badRequest } from "../response/api-errors.ts";
import { booleanParameter, parameter, parameters, type Query } from "./query-parameters.ts";

export type PropagationPolicy = "Orphan" | "Background" | "Foreground";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly orphanDependents?: boolean;
  readonly dryRun: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export function parseDeleteOptions(body: unknown, query: Query | undefined): DeleteOptions {
  const errors: FieldError[] = [];
  const raw = isJsonObject(body) && Object.keys(body).length > 0 ? body : fromQuery(query);
  const options = readOptions(raw, errors);
  if (options.orphanDependents !== undefined && options.propagationPolicy !== undefined) {
    const message = `Invalid value: "${options.propagationPolicy}": orphanDependents and deletionPropagation cannot be both set`;
    errors.push({ type: "FieldValueInvalid", field: "propagationPolicy", message });
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  return options;
}

function fromQuery(query: Query | undefined): Record<string, unknown> {
  if (query === undefined) return {};
  const raw: Record<string, unknown> = { dryRun: parameters(query, "dryRun") };
  const grace = parameter(query, "gracePeriodSeconds");
  if (grace !== "") raw["gracePeriodSeconds"] = Number(grace);
  const policy = parameter(query, "propagationPolicy");
  if (policy !== "") raw["propagationPolicy"] = policy;
  if (query["orphanDependents"] !== undefined) raw["orphanDependents"] = booleanParameter(query, "orphanDependents");
  return raw;
}

function readOptions(raw: Readonly<Record<string, unknown>>, errors: FieldError[]): DeleteOptions {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, kind = "", apiVersion = "" } = raw;
  if (typeof kind === "string" && kind !== "" && kind !== "DeleteOptions") throw otherKind(kind, String(apiVersion));
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds !== null && !isJsonInteger(gracePeriodSeconds)) {
    throw badRequest(
      `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: gracePeriodSeconds is not an integer`,
    );
  }
  return {
    dryRun: readDryRun(raw["dryRun"], errors),
    ...(isJsonInteger(gracePeriodSeconds) ? { gracePeriodSeconds: Number(gracePeriodSeconds) } : {}),
    ...readPolicy(propagationPolicy, errors),
    ...(typeof orphanDependents === "boolean" ? { orphanDependents } : {}),
    ...(isJsonObject(preconditions) ? { preconditions: readPreconditions(preconditions) } : {}),
  };
}

function otherKind(kind: string, apiVersion: string): Error {
  return badRequest(
    `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function readDryRun(value: unknown, errors: FieldError[]): boolean {
  const values = Array.isArray(value) ? value.map(String).filter((each) => each !== "") : [];
  if (values.some((each) => each !== "All")) errors.push(unsupportedDryRun(values));
  return values.length > 0;
}

function readPolicy(value: unknown, errors: FieldError[]): { readonly propagationPolicy?: PropagationPolicy } {
  if (value === undefined || value === null) return {};
  if (value === "Orphan" || value === "Background" || value === "Foreground") return { propagationPolicy: value };
  const supported = `"Foreground", "Background", "Orphan", "nil"`;
  const message = `Unsupported value: ${encodeJson(value)}: supported values: ${supported}`;
  errors.push({ type: "FieldValueNotSupported", field: "propagationPolicy", message });
  return {};
}

function readPreconditions(value: Readonly<Record<string, unknown>>): NonNullable<DeleteOptions["preconditions"]> {
  const { uid, resourceVersion } = value;
  return {
    ...(typeof uid === "string" ? { uid } : {}),
    ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
  };
}
