/** AdmissionReview v1: the request that is sent, and the rules for a response. */
import { isJsonObject, type JsonObject, type UnstructuredObject, type UserInfo } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

export const admissionReviewVersion = "admission.k8s.io/v1";

/** The objects of a request in the version that the webhook expects. */
export interface ReviewedObjects {
  readonly definition: ResourceDefinition;
  readonly object: UnstructuredObject | undefined;
  readonly old: UnstructuredObject | undefined;
}

/** The request without its objects, as match conditions and policies see it too. */
export function requestFields(
  request: AdmissionRequest,
  uid: string,
  definition: ResourceDefinition = request.definition,
): Readonly<Record<string, unknown>> {
  const { subresource, name, namespace, operation, user, dryRun } = request;
  const inSubresource = subresource === "" ? {} : { subResource: subresource };
  const asRequested = subresource === "" ? {} : { requestSubResource: subresource };
  return {
    uid,
    kind: kindOf(definition, subresource),
    resource: resourceOf(definition),
    ...inSubresource,
    requestKind: kindOf(request.definition, subresource),
    requestResource: resourceOf(request.definition),
    ...asRequested,
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: userOf(user),
    dryRun,
    options:
      operation === "CONNECT"
        ? null
        : {
            kind: optionsKind[operation],
            apiVersion: "meta.k8s.io/v1",
            ...(dryRun ? { dryRun: ["All"] } : {}),
          },
  };
}

const optionsKind: Readonly<Record<Exclude<AdmissionRequest["operation"], "CONNECT">, string>> = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
};

function kindOf(definition: ResourceDefinition, subresource: string): Readonly<Record<string, string>> {
  const { group, version, kind } = definition.subresources.find(({ name }) => name === subresource)?.kind ?? definition;
  return { group, version, kind };
}

function resourceOf({ group, version, resource }: ResourceDefinition): Readonly<Record<string, string>> {
  return { group, version, resource };
}

function userOf({ username, uid, groups, extra }: UserInfo): Readonly<Record<string, unknown>> {
  return {
    username,
    ...(uid === undefined || uid === "" ? {} : { uid }),
    groups,
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

export function admissionReview(
  request: AdmissionRequest,
  uid: string,
  { definition, object, old }: ReviewedObjects,
): Readonly<Record<string, unknown>> {
  const { dryRun, options, ...fields } = requestFields(request, uid, definition);
  return {
    kind: "AdmissionReview",
    apiVersion: admissionReviewVersion,
    request: { ...fields, object: reviewed(request, object) ?? null, oldObject: old ?? null, dryRun, options },
  };
}

/** The options of a connection have no metadata. */
function reviewed({ operation }: AdmissionRequest, object: UnstructuredObject | undefined): object | undefined {
  if (operation !== "CONNECT" || object === undefined) return object;
  const { metadata: _, ...options } = object;
  return options;
}

export interface AdmissionAnswer {
  readonly allowed: boolean;
  readonly status: JsonObject;
  readonly warnings: readonly string[];
  /** The decoded text of a JSON patch, if there is one. */
  readonly patch: string | undefined;
}

/** Why an answer cannot be used; `isCall` when it is not even a review. */
export class InvalidAnswer extends Error {
  readonly isCall: boolean;

  constructor(message: string, isCall = false) {
    super(message);
    this.isCall = isCall;
  }
}

export function parseAdmissionAnswer(answer: JsonObject, uid: string, mayPatch: boolean): AdmissionAnswer {
  const { apiVersion, kind, response } = answer;
  if (kind !== "AdmissionReview" || apiVersion !== admissionReviewVersion) {
    const got = `${String(apiVersion ?? "")}, Kind=${String(kind ?? "")}`;
    throw new InvalidAnswer(
      `expected webhook response of ${admissionReviewVersion}, Kind=AdmissionReview, got ${got}`,
      true,
    );
  }
  if (!isJsonObject(response)) throw new InvalidAnswer("webhook response was absent");
  const { allowed, status, warnings } = response;
  if (response["uid"] !== uid) {
    const got = JSON.stringify(String(response["uid"] ?? ""));
    throw new InvalidAnswer(`expected response.uid=${JSON.stringify(uid)}, got ${got}`);
  }
  return {
    allowed: allowed === true,
    status: isJsonObject(status) ? status : {},
    warnings: Array.isArray(warnings) ? warnings.filter((each) => typeof each === "string") : [],
    patch: patchOf(response, mayPatch),
  };
}

function patchOf({ patch, patchType }: JsonObject, mayPatch: boolean): string | undefined {
  const hasPatch = typeof patch === "string" && patch !== "";
  if (!mayPatch) {
    if (hasPatch) throw new InvalidAnswer("validating webhook may not return response.patch");
    if (patchType !== undefined && patchType !== null)
      throw new InvalidAnswer("validating webhook may not return response.patchType");
    return undefined;
  }
  const hasType = typeof patchType === "string";
  if (hasPatch && !hasType) throw new InvalidAnswer("webhook returned response.patch but not response.patchType");
  if (hasType && !hasPatch) throw new InvalidAnswer("webhook returned response.patchType but not response.patch");
  if (!hasPatch) return undefined;
  if (patchType !== "JSONPatch")
    throw new InvalidAnswer(`invalid webhook response.patchType of ${JSON.stringify(patchType)}`);
  return Buffer.from(patch, "base64").toString("utf8");
}
