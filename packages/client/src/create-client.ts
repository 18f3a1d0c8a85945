/** Creates a client on a transport: each verb is a path, a query and a body. */
import {
  apiVersionOf,
  isExpired,
  SetpointError,
  type ApiRequest,
  type ApiResponse,
  type KubeList,
  type KubeObject,
  type NamespacedName,
  type RawFrame,
  type RawList,
  type RawResponse,
  type Status,
  type Transport,
  type UnstructuredObject,
  type WatchFrame,
} from "@setpoint/apimachinery";
import type { Client, FullList, RawReads } from "./client.ts";
import { discover } from "./discover.ts";
import { errUnexpectedAnswer } from "./errors.ts";
import type { KindRef } from "./kind-ref.ts";
import { deleteBody, deleteQuery, listQuery, patchTypes, watchQuery, writeQuery } from "./request-query.ts";
import type {
  ApplyOptions,
  ClientOptions,
  ListAllOptions,
  ListPageOptions,
  RequestOptions,
  WatchOptions,
  WriteOptions,
} from "./request-options.ts";
import { collectionPath, objectPath } from "./resource-path.ts";
import { RetryingSender } from "./retry.ts";
import type { Stored } from "./stored.ts";

/** Large enough to be few requests, small enough to be gentle to the server; as client-go's pager. */
const pageSizeDefault = 500;
/** How often a paged list is restarted because its revision was compacted meanwhile. */
const listRestartsMax = 3;

const metadataOnlyHeaders = {
  accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
};
const metadataOnlyWatchHeaders = {
  accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
};

/**
 * An apply with a field that the schema lacks is refused whatever this is. The validation only looks for
 * duplicate keys, which the JSON of an object cannot have, and for that kube-apiserver 1.36 parses the body
 * twice: 0.4 of 3.2 ms for a ConfigMap.
 */
const applyDefaults = { fieldValidation: "Ignore" } as const;

/** Makes a typed client that sends its requests through `transport` and retries as `options` allow. */
export function createClient(transport: Transport, options: ClientOptions): Client {
  const sender = new RetryingSender(transport, options);

  const send = (request: ApiRequest, options?: RequestOptions): Promise<ApiResponse> =>
    sender.send(request, options?.signal, options?.once);
  const sendForObject = async <T>(request: ApiRequest, options?: RequestOptions): Promise<T> =>
    objectOf<T>(request, await send(request, options));

  const write = <T extends KubeObject>(
    method: "POST" | "PUT",
    path: string,
    object: T,
    options: WriteOptions = {},
  ): Promise<Stored<T>> => sendForObject({ method, path, query: writeQuery(options), body: object }, options);

  const patchAs = <T extends KubeObject>(
    contentType: string,
    path: string,
    body: unknown,
    options: WriteOptions & { readonly force?: boolean },
  ): Promise<Stored<T>> =>
    sendForObject(
      { method: "PATCH", path, query: writeQuery(options), headers: { "content-type": contentType }, body },
      options,
    );

  const applyAt = <T extends KubeObject>(path: string, object: KubeObject, options: ApplyOptions): Promise<Stored<T>> =>
    patchAs(patchTypes.apply, path, object, { ...applyDefaults, ...options });

  const list = async <T extends KubeObject>(
    kind: KindRef<T>,
    options: ListPageOptions = {},
  ): Promise<KubeList<Stored<T>>> => {
    const request = listRequest(kind, options);
    const found = await sendForObject<ListAnswer<Stored<T>>>(request, options);
    return { ...found, items: (found.items ?? []).map((item) => withType(item, kind)) };
  };

  return {
    transport,
    ...(transport.sendRaw === undefined ? {} : { raw: rawReads(sender) }),
    request: send,
    get: (kind, key, options = {}) =>
      sendForObject(
        {
          method: "GET",
          path: objectPath(kind, key),
          ...(options.resourceVersion === undefined ? {} : { query: { resourceVersion: options.resourceVersion } }),
        },
        options,
      ),
    list,
    listAll: (kind, options = {}) => listAll(list, kind, options),
    async watch(kind, options = {}): Promise<AsyncIterable<WatchFrame>> {
      const request = watchRequest(kind, options);
      const response = await send(request, options);
      if (response.kind !== "watch") throw unexpected(request, "a watch", response);
      return response.frames;
    },
    create: (kind, object, options) => write("POST", collectionPath(kind, namespaceOf(kind, object)), object, options),
    update: (kind, object, options) => write("PUT", objectPath(kind, keyOf(object)), object, options),
    updateStatus: (kind, object, options) => write("PUT", objectPath(kind, keyOf(object), "status"), object, options),
    patch: (kind, key, patch, options = {}) =>
      patchAs(patchTypes[options.type ?? "merge"], objectPath(kind, key, options.subresource), patch, options),
    apply: (kind, object, options) => applyAt(objectPath(kind, keyOf(object)), object, options),
    applyStatus: (kind, object, options) => applyAt(objectPath(kind, keyOf(object), "status"), object, options),
    delete: (kind, key, options = {}): Promise<UnstructuredObject | Status> =>
      sendForObject(
        { method: "DELETE", path: objectPath(kind, key), query: deleteQuery(options), body: deleteBody(options) },
        options,
      ),
    async deleteCollection(kind, options = {}): Promise<void> {
      const query = { ...listQuery(options), ...deleteQuery(options) };
      await send(
        { method: "DELETE", path: collectionPath(kind, options.namespace), query, body: deleteBody(options) },
        options,
      );
    },
    async scale(kind, key, replicas, options = {}): Promise<void> {
      await patchAs(patchTypes.merge, objectPath(kind, key, "scale"), { spec: { replicas } }, options);
    },
    discover: (options) => discover(send, options),
  };
}

function listRequest(kind: KindRef, options: ListPageOptions): ApiRequest {
  return {
    method: "GET",
    path: collectionPath(kind, options.namespace),
    query: listQuery(options),
    ...(options.metadataOnly === true ? { headers: metadataOnlyHeaders } : {}),
  };
}

function watchRequest(kind: KindRef, options: WatchOptions): ApiRequest {
  return {
    method: "GET",
    path: collectionPath(kind, options.namespace),
    query: watchQuery(options),
    ...(options.metadataOnly === true ? { headers: metadataOnlyWatchHeaders } : {}),
  };
}

function rawReads(sender: RetryingSender): RawReads {
  return {
    async list(kind, options = {}): Promise<RawList> {
      const request = listRequest(kind, options);
      const response = await sender.sendRaw(request, options.signal);
      if (response.kind !== "rawList") throw unexpected(request, "a list", response);
      return response.list;
    },
    async watch(kind, options = {}): Promise<AsyncIterable<readonly RawFrame[]>> {
      const request = watchRequest(kind, options);
      const response = await sender.sendRaw(request, options.signal);
      if (response.kind !== "rawWatch") throw unexpected(request, "a watch", response);
      return response.frames;
    },
  };
}

async function listAll<T extends KubeObject>(
  list: Client["list"],
  kind: KindRef<T>,
  options: ListAllOptions,
): Promise<FullList<T>> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await listPages(list, kind, options);
    } catch (error) {
      // The revision of the continue token was compacted. Pages of two revisions are not a consistent list,
      // so it is restarted.
      if (!isExpired(error) || restarts >= listRestartsMax) throw error;
    }
  }
}

async function listPages<T extends KubeObject>(
  list: Client["list"],
  kind: KindRef<T>,
  { pageSize = pageSizeDefault, resourceVersion, resourceVersionMatch, ...options }: ListAllOptions,
): Promise<FullList<T>> {
  // A resource version is not allowed beside a continue token, which has its own.
  const start = {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
  };
  let page = await list(kind, { ...options, ...start, limit: pageSize });
  const items = [...page.items];
  while (page.metadata.continue !== undefined && page.metadata.continue !== "") {
    page = await list(kind, { ...options, limit: pageSize, continue: page.metadata.continue });
    for (const item of page.items) items.push(item);
  }
  return { items, resourceVersion: page.metadata.resourceVersion ?? "" };
}

function keyOf(object: KubeObject): NamespacedName {
  const { name, namespace } = object.metadata;
  if (name === undefined)
    throw new SetpointError("ERR_NAME_MISSING", `Cannot write ${object.kind}: metadata.name is missing; set it`);
  return namespace === undefined ? { name } : { namespace, name };
}

/** Servers in Go write an empty list of metadata as null. */
type ListAnswer<T extends KubeObject> = Omit<KubeList<T>, "items"> & { readonly items: readonly T[] | null };

/** Servers name the type of a list's items once, in the list. */
function withType<T extends KubeObject>(item: Stored<T>, kind: KindRef<T>): Stored<T> {
  return (item.kind as string | undefined) === undefined
    ? { ...item, apiVersion: apiVersionOf(kind), kind: kind.kind }
    : item;
}

/** The namespace of the path, which is needed also when the object names none. */
function namespaceOf(kind: KindRef, object: KubeObject): string | undefined {
  return kind.namespaced ? (object.metadata.namespace ?? "default") : undefined;
}

function objectOf<T>(request: ApiRequest, response: ApiResponse): T {
  if (response.kind !== "object") throw unexpected(request, "an object", response);
  // The parsing border: the server returns objects of the kind that the path names.
  return response.object as T;
}

function unexpected(request: ApiRequest, expected: string, response: RawResponse): SetpointError {
  const message = `Cannot use the answer to ${request.method} ${request.path}: it is ${response.kind}, expected ${expected}`;
  return new SetpointError(errUnexpectedAnswer, message);
}
