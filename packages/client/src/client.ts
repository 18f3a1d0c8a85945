/** The typed verbs of the Kubernetes API over any Transport. */
import type {
  ApiRequest,
  ApiResponse,
  KubeList,
  KubeObject,
  NamespacedName,
  RawFrame,
  RawList,
  Status,
  Transport,
  UnstructuredObject,
  WatchFrame,
} from "@setpoint/apimachinery";
import type { KindRef } from "./kind-ref.ts";
import type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteRequestOptions,
  GetOptions,
  ListAllOptions,
  ListPageOptions,
  PatchOptions,
  RequestOptions,
  WatchOptions,
  WriteOptions,
} from "./request-options.ts";
import type { RestMapper } from "./rest-mapper.ts";
import type { Stored } from "./stored.ts";

/** Every object of a list, and the revision at which it was complete. */
export interface FullList<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  readonly resourceVersion: string;
}

/** Lists and watches whose objects stay bytes, for a cache that decodes what is read. */
export interface RawReads {
  /** One page, or all when the options name no limit. */
  list(kind: KindRef, options?: ListPageOptions): Promise<RawList>;
  watch(kind: KindRef, options?: WatchOptions): Promise<AsyncIterable<readonly RawFrame[]>>;
}

/**
 * Requests to one API server as one user.
 *
 * Guarantees: refused requests (429, and 503 with Retry-After) and reads without an answer are sent again,
 * within limits; a write that may have happened is never sent twice. Errors: ApiError for an answer that is
 * not a success; `ERR_OUTCOME_UNKNOWN` for a write without an answer or with one that does not tell (502, 503
 * without Retry-After, 504, a store that did not answer the server): it may have happened; `ERR_NO_ANSWER`
 * for a read without one; the signal's reason when it aborted before anything was sent.
 */
export interface Client {
  readonly transport: Transport;
  /** Absent when the transport has no bytes, or must see every object. */
  readonly raw?: RawReads;
  /** Sends any request; throws ApiError unless the answer is a success. */
  request(request: ApiRequest, options?: RequestOptions): Promise<ApiResponse>;
  get<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName, options?: GetOptions): Promise<Stored<T>>;
  /** One page. */
  list<T extends KubeObject>(kind: KindRef<T>, options?: ListPageOptions): Promise<KubeList<Stored<T>>>;
  /** All pages, at one revision; begins again when the revision is compacted on the way. */
  listAll<T extends KubeObject>(kind: KindRef<T>, options?: ListAllOptions): Promise<FullList<T>>;
  /** Resolves once the server has accepted the watch; abort the signal or end the iteration to close it. */
  watch(kind: KindRef, options?: WatchOptions): Promise<AsyncIterable<WatchFrame>>;
  create<T extends KubeObject>(kind: KindRef<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  update<T extends KubeObject>(kind: KindRef<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  updateStatus<T extends KubeObject>(kind: KindRef<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  patch<T extends KubeObject>(
    kind: KindRef<T>,
    key: NamespacedName,
    patch: unknown,
    options?: PatchOptions,
  ): Promise<Stored<T>>;
  /** Server-side apply: `object` holds exactly the fields that the manager wants to own. */
  apply<T extends KubeObject>(kind: KindRef<T>, object: KubeObject, options: ApplyOptions): Promise<Stored<T>>;
  applyStatus<T extends KubeObject>(kind: KindRef<T>, object: KubeObject, options: ApplyOptions): Promise<Stored<T>>;
  /**
   * Answers the object when it is only marked (finalizers, grace), else a Status; some kinds always answer
   * the object.
   */
  delete(kind: KindRef, key: NamespacedName, options?: DeleteRequestOptions): Promise<UnstructuredObject | Status>;
  deleteCollection(kind: KindRef, options?: DeleteCollectionOptions): Promise<void>;
  /** Sets the replicas by the scale subresource. */
  scale(kind: KindRef, key: NamespacedName, replicas: number, options?: WriteOptions): Promise<void>;
  /** Asks what the server serves; each call sends a new request. */
  discover(options?: RequestOptions): Promise<RestMapper>;
}
