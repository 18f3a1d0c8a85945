/** AdmissionReview in, AdmissionReview out. */
import {
  encodeJson,
  deepFreeze,
  type FieldError,
  invalid,
  isApiError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type Status,
  type UserInfo,
} from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";
import { explainedToWebhook } from "../errors.ts";
import { jsonDifference } from "./json-difference.ts";
import type { AdmissionContext, AdmissionOperation, WebhookDefinition, WebhookRole } from "./webhook-definition.ts";

const reviewVersion = "admission.k8s.io/v1";

/** A body that is no review: the caller is not an API server, or speaks another version. */
export class NotAReview extends Error {}

export interface AdmissionPorts {
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface AskedRequest {
  readonly uid: string;
  readonly operation: AdmissionOperation;
  readonly object: KubeObject;
  readonly old: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** Throws `NotAReview`, and what the author's function throws unless it is an ApiError: that is a refusal. */
export async function answerAdmission(
  definition: WebhookDefinition,
  role: WebhookRole,
  body: unknown,
  ports: AdmissionPorts,
): Promise<JsonObject> {
  const request = parseRequest(body);
  const said = new Objections();
  const context = contextOf(request, said, ports);
  try {
    const changed = await definition.ask(role, request.object, context);
    const refusal = said.asStatus(definition, request.object);
    return refusal === undefined
      ? review(request.uid, said, { allowed: true, ...patchOf(request.object, changed) })
      : review(request.uid, said, { allowed: false, status: refusal });
  } catch (error) {
    if (!isApiError(error)) throw explainedToWebhook(error);
    return review(request.uid, said, { allowed: false, status: error.status });
  }
}

function review(uid: string, { warnings }: Objections, response: object): JsonObject {
  const withWarnings = warnings.length === 0 ? {} : { warnings };
  return { apiVersion: reviewVersion, kind: "AdmissionReview", response: { uid, ...response, ...withWarnings } };
}

function parseRequest(body: unknown): AskedRequest {
  if (!isJsonObject(body) || body["kind"] !== "AdmissionReview" || body["apiVersion"] !== reviewVersion) {
    throw new NotAReview(`Cannot answer the request: its body is not an AdmissionReview of ${reviewVersion}`);
  }
  const { request } = body;
  if (!isJsonObject(request)) throw new NotAReview("Cannot answer the request: the AdmissionReview has no request");
  const { uid, operation, object, oldObject, userInfo, dryRun } = request;
  const isDelete = operation === "DELETE";
  const asked = isDelete ? oldObject : object;
  if (typeof uid !== "string" || !isJsonObject(asked)) {
    throw new NotAReview("Cannot answer the request: the AdmissionReview has no uid or no object");
  }
  return {
    uid,
    // Configurations ask for these operations alone.
    operation: operation as AdmissionOperation,
    object: deepFreeze(asked) as unknown as KubeObject,
    old: isDelete || !isJsonObject(oldObject) ? undefined : (deepFreeze(oldObject) as unknown as KubeObject),
    user: parseUser(userInfo),
    dryRun: dryRun === true,
  };
}

function parseUser(value: unknown): UserInfo {
  const { username = "", uid = "", groups = [] } = isJsonObject(value) ? value : {};
  return { username: String(username), uid: String(uid), groups: Array.isArray(groups) ? groups.map(String) : [] };
}

function contextOf(request: AskedRequest, said: Objections, ports: AdmissionPorts): AdmissionContext<KubeObject> {
  const { operation, old, user, dryRun, object } = request;
  return {
    operation,
    // What a server sends has been stored.
    old: old as AdmissionContext<KubeObject>["old"],
    user,
    dryRun,
    ...ports,
    warn: (text) => said.warnings.push(text),
    invalid: (path, why) => said.invalid(object, path, why),
    required: (path, why) => said.required(path, why),
    forbidden: (path, why) => said.forbidden(path, why),
  };
}

/** What the author has said against a request, and beside it. */
class Objections {
  readonly warnings: string[] = [];
  readonly #errors: FieldError[] = [];

  invalid(object: KubeObject, path: string, why: string): void {
    const value = encodeJson(valueAt(object, path));
    const printed = value === undefined || value.length > printedValueMax ? "" : ` ${value}:`;
    this.#errors.push({ type: "FieldValueInvalid", field: path, message: `Invalid value:${printed} ${why}` });
  }

  required(path: string, why: string | undefined): void {
    const message = why === undefined ? "Required value" : `Required value: ${why}`;
    this.#errors.push({ type: "FieldValueRequired", field: path, message });
  }

  forbidden(path: string, why: string): void {
    this.#errors.push({ type: "FieldValueForbidden", field: path, message: `Forbidden: ${why}` });
  }

  asStatus({ kind }: WebhookDefinition, object: KubeObject): Status | undefined {
    if (this.#errors.length === 0) return undefined;
    return invalid(kind, object.metadata.name ?? object.metadata.generateName ?? "", this.#errors).status;
  }
}

/** A value longer than this in JSON is left out of a message. */
const printedValueMax = 200;

/** The value at a path like `spec.ports[0].port`. */
function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name ?? index ?? ""];
  }
  return value;
}

function patchOf(before: KubeObject, after: KubeObject | null | undefined): object {
  // Without types `null` says the same as nothing.
  if (after === undefined || after === null) return {};
  if (typeof after !== "object")
    throw new TypeError(`\`mutate\` of ${before.kind} returned a ${typeof after}, expected the object or nothing`);
  const operations = jsonDifference(before, after);
  if (operations.length === 0) return {};
  return { patchType: "JSONPatch", patch: base64(encodeJson(operations)) };
}

function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCodePoint(byte);
  return btoa(binary);
}
