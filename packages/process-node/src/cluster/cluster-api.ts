/** The requests that a node makes, over any Transport; pure, so that the simulated node makes the same ones. */
import {
  type ApiRequest,
  ApiError,
  apiVersionOf,
  isNotFound,
  isStatus,
  type KubeObject,
  type NamespacedName,
  type Transport,
  type WatchFrame,
} from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";

export interface ClusterApi {
  get<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName): Promise<T>;
  /** Undefined when there is no such object. */
  find<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName): Promise<T | undefined>;
  list<T extends KubeObject>(
    kind: KindRef<T>,
    selector: Selector,
    signal?: AbortSignal,
  ): Promise<{ items: readonly T[]; resourceVersion: string }>;
  watch(
    kind: KindRef,
    selector: Selector,
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<AsyncIterable<WatchFrame>>;
  create<T extends KubeObject>(
    kind: KindRef<T>,
    object: T,
    subresourceOf?: { readonly name: string; readonly subresource: string },
  ): Promise<T>;
  /** A JSON merge patch. */
  patch<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName, patch: unknown, subresource?: string): Promise<T>;
  delete(
    kind: KindRef,
    key: NamespacedName,
    options?: { readonly uid?: string; readonly gracePeriodSeconds?: number },
  ): Promise<void>;
}

export interface Selector {
  readonly namespace?: string;
  readonly fieldSelector?: string;
}

/** The server ends a watch after this long; the next one goes on where it ended. */
const watchSeconds = 300;

export function createClusterApi(transport: Transport): ClusterApi {
  const send = async (request: ApiRequest, signal?: AbortSignal): Promise<unknown> => {
    const response = await transport.send(request, signal);
    if (response.kind !== "object")
      throw new TypeError(
        `Cannot read the answer to ${request.method} ${request.path}: it is a ${response.kind} stream`,
      );
    if (response.status >= 400 && isStatus(response.object)) throw new ApiError(response.object);
    return response.object;
  };
  // The server answers with objects of the kind that was asked for.
  const object = async <T>(request: ApiRequest): Promise<T> => (await send(request)) as T;
  const api: ClusterApi = {
    get: (kind, key) => object({ method: "GET", path: pathOf(kind, key) }),
    async find(kind, key) {
      try {
        return await api.get(kind, key);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async list<T extends KubeObject>(kind: KindRef<T>, selector: Selector, signal?: AbortSignal) {
      const answer = await send({ method: "GET", path: pathOf(kind, selector), query: queryOf(selector) }, signal);
      const list = answer as { metadata: { resourceVersion?: string }; items: readonly T[] };
      return { items: list.items, resourceVersion: list.metadata.resourceVersion ?? "0" };
    },
    async watch(kind, selector, resourceVersion, signal) {
      const watch = {
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: String(watchSeconds),
        resourceVersion,
      };
      const response = await transport.send(
        { method: "GET", path: pathOf(kind, selector), query: { ...queryOf(selector), ...watch } },
        signal,
      );
      if (response.kind === "watch") return response.frames;
      if (response.kind === "object" && isStatus(response.object)) throw new ApiError(response.object);
      throw new TypeError(`Cannot watch ${kind.plural}: the answer is no watch`);
    },
    create: (kind, body, subresourceOf) => {
      const at = {
        ...(body.metadata.namespace === undefined ? {} : { namespace: body.metadata.namespace }),
        ...subresourceOf,
      };
      return object({ method: "POST", path: pathOf(kind, at, subresourceOf?.subresource), body });
    },
    patch: (kind, key, body, subresource) => {
      const headers = { "content-type": "application/merge-patch+json" };
      return object({ method: "PATCH", path: pathOf(kind, key, subresource), headers, body });
    },
    async delete(kind, key, options = {}) {
      const { uid, gracePeriodSeconds } = options;
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      };
      await send({ method: "DELETE", path: pathOf(kind, key), body });
    },
  };
  return api;
}

function queryOf({ fieldSelector }: Selector): Record<string, string> {
  return fieldSelector === undefined ? {} : { fieldSelector };
}

function pathOf(
  kind: KindRef,
  at: { readonly namespace?: string; readonly name?: string },
  subresource?: string,
): string {
  const root = kind.group === "" ? "/api" : "/apis";
  const namespace = kind.namespaced && at.namespace !== undefined ? ["namespaces", at.namespace] : [];
  const parts = [apiVersionOf(kind), ...namespace, kind.plural, ...(at.name === undefined ? [] : [at.name])];
  const path = parts
    .flatMap((part) => part.split("/"))
    .map(encodeURIComponent)
    .join("/");
  return `${root}/${path}${subresource === undefined ? "" : `/${subresource}`}`;
}
