/** Predicts what a write makes of an object, without the server. */
import {
  failure,
  isJsonObject,
  jsonPatch,
  mergePatch,
  type ApiRequest,
  type ApiResponse,
  type JsonObject,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { mergeApplied } from "./merge-applied.ts";
import { answer } from "./overlay-answers.ts";
import { asObject, type ObjectPlace } from "./pretended-objects.ts";
import type { ResourceRequest } from "./resource-request.ts";

export const applyType = "application/apply-patch+yaml";
const jsonPatchType = "application/json-patch+json";

/** One request in flight. */
export interface Write {
  readonly request: ApiRequest;
  readonly asked: ResourceRequest;
  readonly signal: AbortSignal | undefined;
}

/** The changed object, as far as it can be predicted without the server's schema. */
export function predictWrite({ request, asked }: Write, present: UnstructuredObject): UnstructuredObject | undefined {
  const { body, headers } = request;
  const type = headers?.["content-type"] ?? "application/json";
  if (!isJsonObject(body) && !Array.isArray(body)) return undefined;
  const whole = request.method === "PUT" ? body : patched(type, present, body);
  const after = asObject(whole);
  if (after === undefined) return undefined;
  // UID and resourceVersion of the request are preconditions, not changes.
  const metadata = {
    ...after.metadata,
    uid: present.metadata.uid,
    resourceVersion: present.metadata.resourceVersion,
  };
  const changed = { ...after, metadata } as UnstructuredObject;
  if (asked.subresource === "status") return { ...present, status: changed["status"] };
  return request.method === "PUT" ? { ...changed, status: changed["status"] ?? present["status"] } : changed;
}

export function isRefusal(response: ApiResponse): boolean {
  return response.status >= 300;
}

function patched(type: string, present: UnstructuredObject, body: unknown): unknown {
  if (type === jsonPatchType) return jsonPatch(present, body);
  return type === applyType ? mergeApplied(present, body) : mergePatch(present, body);
}

/** Whether the server cannot answer a dry run: the account may only read, or a webhook has side effects. */
export function mustPredict(response: ApiResponse): boolean {
  if (response.status === 403) return true;
  const message = response.kind === "object" && isJsonObject(response.object) ? String(response.object["message"]) : "";
  return response.status === 400 && message.includes("does not support dry run");
}

export function asObjectOf(response: ApiResponse): UnstructuredObject | undefined {
  return response.kind === "object" ? asObject(response.object) : undefined;
}

export function placeOf({ group, resource, namespace, name }: ResourceRequest): ObjectPlace {
  return { group, resource, namespace, name };
}

export function pathOf({ group, version, resource, namespace }: ResourceRequest): string {
  const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === "" ? `${base}/${resource}` : `${base}/namespaces/${namespace}/${resource}`;
}

/** The fields of an apply, to be merged into the fields of other managers. */
export function appliedDelta({ request, asked }: Write): JsonObject {
  const { apiVersion: _version, kind: _kind, ...fields } = isJsonObject(request.body) ? request.body : {};
  if (asked.subresource === "status") return { status: fields["status"] };
  const {
    name: _name,
    namespace: _namespace,
    ...metadata
  } = isJsonObject(fields["metadata"]) ? fields["metadata"] : {};
  return { ...fields, metadata };
}

/** Each dry run of a create returns a new identity; the pretended object keeps its first one. */
export function keepIdentity(present: UnstructuredObject, fresh: UnstructuredObject): UnstructuredObject {
  const { uid, creationTimestamp, generation } = present.metadata;
  const identity = {
    ...(uid === undefined ? {} : { uid }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(generation === undefined ? {} : { generation }),
  };
  return { ...fresh, metadata: { ...fresh.metadata, ...identity } };
}

/** Whether an object that is being deleted has no finalizer and no grace period left. */
export function isFinished({ metadata }: UnstructuredObject): boolean {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
}

/** The conflict for a precondition that does not hold. */
export function conflictOf({ body }: ApiRequest, present: UnstructuredObject): ApiResponse | undefined {
  if (!isJsonObject(body)) return undefined;
  const wanted = isJsonObject(body["preconditions"]) ? body["preconditions"] : body["metadata"];
  if (!isJsonObject(wanted)) return undefined;
  for (const field of ["uid", "resourceVersion"] as const) {
    const value = wanted[field];
    if (typeof value !== "string" || value === "" || value === present.metadata[field]) continue;
    const message = `Precondition failed: ${field} is ${present.metadata[field]}, expected ${value}`;
    return answer(409, failure(409, "Conflict", message));
  }
  return undefined;
}
