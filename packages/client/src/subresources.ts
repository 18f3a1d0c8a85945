/** The subresources that are no part of their object: eviction, binding, tokens, scale, logs. */
import {
  createKind,
  SetpointError,
  type ApiRequest,
  type KubeObject,
  type NamespacedName,
} from "@setpoint/apimachinery";
import type { Client } from "./client.ts";
import { errUnexpectedAnswer } from "./errors.ts";
import type { KindRef } from "./kind-ref.ts";
import type { DeleteRequestOptions, RequestOptions, WriteOptions } from "./request-options.ts";
import { writeQuery } from "./request-query.ts";
import { objectPath } from "./resource-path.ts";

const Pod = createKind<KubeObject>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
const ServiceAccount = createKind<KubeObject>({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
});

/**
 * Deletes a pod unless a disruption budget forbids it now. Errors: ApiError with 429 and the cause
 * `DisruptionBudget` when it does; that is not retried.
 */
export async function evictPod(client: Client, key: NamespacedName, options: DeleteRequestOptions = {}): Promise<void> {
  const { preconditions, gracePeriodSeconds, dryRun, signal } = options;
  const deleteOptions = {
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: key, deleteOptions };
  const path = objectPath(Pod, key, "eviction");
  await client.request(
    { method: "POST", path, query: dryRun === true ? { dryRun: "All" } : {}, body },
    withSignal(signal),
  );
}

/** Puts a pod on a node, as a scheduler does; it must not be on one yet. */
export async function bindPod(
  client: Client,
  key: NamespacedName,
  node: string,
  options: WriteOptions = {},
): Promise<void> {
  const target = { apiVersion: "v1", kind: "Node", name: node };
  const body = { apiVersion: "v1", kind: "Binding", metadata: key, target };
  const path = objectPath(Pod, key, "binding");
  await client.request({ method: "POST", path, query: writeQuery(options), body }, withSignal(options.signal));
}

/** The fields of a TokenRequest's spec. */
export interface TokenOptions extends RequestOptions {
  /** For whom it is good; default: the API server. */
  readonly audiences?: readonly string[];
  /** The server may give another; at least 600. */
  readonly expirationSeconds?: number;
  /** The token ends with this object, which is in the account's namespace; absent: with the account. */
  readonly boundObjectRef?: BoundObjectReference;
}

export interface BoundObjectReference {
  readonly apiVersion: string;
  readonly kind: "Pod" | "Secret";
  readonly name: string;
  readonly uid: string;
}

/** A bound token, and the time (RFC 3339) at which it expires. */
export interface ServiceAccountToken {
  readonly token: string;
  readonly expirationTimestamp: string;
}

/** A token of a service account. */
export async function requestToken(
  client: Client,
  account: NamespacedName,
  { audiences, expirationSeconds, boundObjectRef, signal }: TokenOptions = {},
): Promise<ServiceAccountToken> {
  const spec = {
    ...(audiences === undefined ? {} : { audiences }),
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    ...(boundObjectRef === undefined ? {} : { boundObjectRef }),
  };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec };
  const request: ApiRequest = { method: "POST", path: objectPath(ServiceAccount, account, "token"), body };
  const { status } = await readObject<{ readonly status: ServiceAccountToken }>(client, request, signal);
  return status;
}

/** The scale of an object that has one. */
export interface Scale {
  /** The UID of the object that is scaled. */
  readonly uid: string;
  /** Wanted. */
  readonly replicas: number;
  /** Counted. */
  readonly currentReplicas: number;
  /** Selects the counted pods. */
  readonly selector: string;
}

/** Reads the `scale` subresource of an object. */
export async function readScale(
  client: Client,
  kind: KindRef,
  key: NamespacedName,
  options: RequestOptions = {},
): Promise<Scale> {
  const request: ApiRequest = { method: "GET", path: objectPath(kind, key, "scale") };
  const { metadata, spec, status } = await readObject<ScaleObject>(client, request, options.signal);
  return {
    uid: metadata?.uid ?? "",
    replicas: spec?.replicas ?? 0,
    currentReplicas: status?.replicas ?? 0,
    selector: status?.selector ?? "",
  };
}

interface ScaleObject {
  readonly metadata?: { readonly uid?: string };
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}

/** Which lines of a container's log to read, as in `kubectl logs`. */
export interface LogOptions extends RequestOptions {
  /** May be left out for pods with one container. */
  readonly container?: string;
  /** Go on as long as the container writes. */
  readonly follow?: boolean;
  /** Of the container that ran before this one. */
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  /** RFC 3339. */
  readonly sinceTime?: string;
  /** Each line begins with its time. */
  readonly timestamps?: boolean;
  readonly limitBytes?: number;
}

/** A longer line is handed out in parts. */
export const logLineLengthMax: number = 1024 * 1024;

/**
 * The lines of a container's log as they come, without their line breaks. Errors: the signal's reason when it
 * aborts; what the transport throws when the connection is cut.
 */
export async function* podLogLines(
  client: Client,
  key: NamespacedName,
  options: LogOptions = {},
): AsyncGenerator<string> {
  const { signal, ...rest } = options;
  const query = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  const request: ApiRequest = { method: "GET", path: objectPath(Pod, key, "log"), query };
  const response = await client.request(request, withSignal(signal));
  if (response.kind !== "bytes") {
    // An empty log has no type of its own.
    if (response.kind === "object" && response.object === undefined) return;
    throw unexpected(request, response.kind);
  }
  let unfinished = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.bytes) {
    const lines = (unfinished + decoder.decode(chunk, { stream: true })).split("\n");
    unfinished = lines.pop() ?? "";
    yield* lines;
    if (unfinished.length < logLineLengthMax) continue;
    yield unfinished;
    unfinished = "";
  }
  if (unfinished !== "") yield unfinished;
}

async function readObject<T>(client: Client, request: ApiRequest, signal: AbortSignal | undefined): Promise<T> {
  const response = await client.request(request, withSignal(signal));
  if (response.kind !== "object") throw unexpected(request, response.kind);
  // The parsing border: the API defines what it answers at this path.
  return response.object as T;
}

function unexpected({ method, path }: ApiRequest, kind: string): SetpointError {
  return new SetpointError(errUnexpectedAnswer, `Cannot use the answer to ${method} ${path}: it is ${kind}`);
}

function withSignal(signal: AbortSignal | undefined): RequestOptions {
  return signal === undefined ? {} : { signal };
}
