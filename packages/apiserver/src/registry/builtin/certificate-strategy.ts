/**
 * CertificateSigningRequests: the server sets the requesting user, and the spec is immutable.
 */
import { timestamp } from "@setpoint/host";
import { parseCertificateRequest } from "@setpoint/host/certificates";
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import type { WriteContext } from "../resource-definition.ts";
import { invalidValue, required } from "../field-errors.ts";
import {
  ensureObject,
  fillDefaults,
  type JsonObject,
  keepField,
  objectAt,
  objectsAt,
  sameJson,
  stringAt,
  valueAt,
} from "../json-fields.ts";
import type { KindStrategy } from "./kind-strategy.ts";

const expirationSecondsMin = 600;
const legacySigner = "kubernetes.io/legacy-unknown";
const decisions = ["Approved", "Denied"];

function prepareForCreate(object: UnstructuredObject, { user }: WriteContext): void {
  const json = object as unknown as JsonObject;
  const spec = ensureObject(json, "spec");
  for (const field of ["username", "uid", "groups", "extra"]) delete spec[field];
  spec["username"] = user.username;
  if (user.uid !== undefined && user.uid !== "") spec["uid"] = user.uid;
  if (user.groups.length > 0) spec["groups"] = [...user.groups];
  if (user.extra !== undefined) spec["extra"] = structuredClone(user.extra);
  // Clients cannot create a request that is already approved.
  json["status"] = {};
}

function prepareForUpdate(
  object: UnstructuredObject,
  old: UnstructuredObject,
  { subresource, clock }: WriteContext,
): void {
  const json = object as unknown as JsonObject;
  const before = old as unknown as JsonObject;
  keepField(json, before, "spec");
  if (subresource === "") keepField(json, before, "status");
  // An approver writes conditions alone; a signer everything but the decisions.
  if (subresource === "approval") json["status"] = withConditions(objectAt(old, "status"), conditionsOf(object));
  if (subresource === "status")
    json["status"] = withConditions(objectAt(object, "status"), [
      ...conditionsOf(old).filter(isDecision),
      ...conditionsOf(object).filter(isOther),
    ]);
  const now = timestamp(clock);
  for (const condition of conditionsOf(object))
    if (!Object.isFrozen(condition)) fillDefaults(condition, { lastUpdateTime: now, lastTransitionTime: now });
}

function withConditions(status: JsonObject, conditions: readonly JsonObject[]): JsonObject {
  const { conditions: _, ...rest } = status;
  return conditions.length === 0 ? rest : { ...rest, conditions };
}

function conditionsOf(object: UnstructuredObject): readonly JsonObject[] {
  return objectsAt(object, "status", "conditions");
}

function isDecision({ type }: JsonObject): boolean {
  return decisions.includes(String(type));
}

function isOther(condition: JsonObject): boolean {
  return !isDecision(condition);
}

function validate(object: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  return old === undefined ? specErrors(objectAt(object, "spec")) : statusErrors(object, old);
}

function specErrors(spec: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const problem = requestProblem(stringAt(spec, "request"));
  if (problem !== undefined) errors.push(invalidValue("spec.request", stringAt(spec, "request"), problem));
  if (!Array.isArray(spec["usages"]) || spec["usages"].length === 0) errors.push(required("spec.usages"));
  const signer = stringAt(spec, "signerName");
  if (signer === "") errors.push(required("spec.signerName"));
  else if (!/^[a-z0-9.-]+\.[a-z0-9-]+\/[a-z0-9./:-]+$/i.test(signer))
    errors.push(
      invalidValue(
        "spec.signerName",
        signer,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    );
  else if (signer === legacySigner)
    errors.push(invalidValue("spec.signerName", signer, "the legacy signerName is not allowed via this API version"));
  const seconds = spec["expirationSeconds"];
  if (typeof seconds === "number" && seconds < expirationSecondsMin)
    errors.push(
      invalidValue("spec.expirationSeconds", seconds, "may not specify a duration less than 600 seconds (10 minutes)"),
    );
  return errors;
}

function requestProblem(request: string): string | undefined {
  try {
    parseCertificateRequest(Buffer.from(request, "base64").toString("latin1"));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function statusErrors(object: UnstructuredObject, old: UnstructuredObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const types = conditionsOf(object).map(({ type }) => String(type));
  conditionsOf(object).forEach((condition, index) => {
    const at = `status.conditions[${index}].status`;
    if ([...decisions, "Failed"].includes(String(condition["type"])) && condition["status"] !== "True")
      errors.push({ ...invalidValue(at, condition["status"], 'must be "True"') });
  });
  if (decisions.every((type) => types.includes(type)))
    errors.push(invalidValue("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive"));
  for (const type of [...decisions, "Failed"]) {
    const had = conditionsOf(old).some((each) => each["type"] === type);
    if (had && !types.includes(type))
      errors.push({
        type: "FieldValueForbidden",
        field: "status.conditions",
        message: `Forbidden: updates may not remove a condition of type ${JSON.stringify(type)}`,
      });
  }
  const certificate = valueAt(old, "status", "certificate");
  if (certificate !== undefined && !sameJson(certificate, valueAt(object, "status", "certificate")))
    errors.push(invalidValue("status.certificate", "<certificate data>", "field is immutable"));
  return errors;
}

export const certificateStrategy: KindStrategy = { prepareForCreate, prepareForUpdate, validate };
