/**
 * Every part that talks to a Kubernetes API uses a `Transport`, and transports compose like middleware (HTTP,
 * in-process, recording, fault-injecting, dry-run…). It is in the lowest package because both sides use it:
 * the client calls a transport, the embedded API server implements one.
 */

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** A request to the API, independent of HTTP. */
export interface ApiRequest {
  readonly method: HttpMethod;
  /** Absolute path without query, each segment already percent-encoded: `/api/v1/namespaces/default/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Lower-case names. `content-type` is the media type of `body`; absent means JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A JSON value (never mutated by the receiver, never kept unless frozen), or bytes for protobuf, YAML and
   * text.
   */
  readonly body?: unknown;
}

/** The event types of a watch. A BOOKMARK has only a revision, an ERROR a Status; an ERROR ends the watch. */
export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/**
 * One frame of a watch. `object` is a KubeObject, a Status for ERROR, or a Table when the request asked for
 * one.
 */
export interface WatchFrame {
  readonly type: WatchEventType;
  readonly object: unknown;
}

interface ApiResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The response to a request. Objects from the in-process transport are deeply frozen and shared with the
 * store: never mutate them. `frames` ends when the server ends the watch; it throws when the connection
 * breaks or the signal aborts. The caller must iterate a stream to its end, `return()` it or abort the
 * signal; otherwise the server keeps the watch open.
 */
export type ApiResponse =
  | (ApiResponseHead & { readonly kind: "object"; readonly object: unknown })
  | (ApiResponseHead & { readonly kind: "watch"; readonly frames: AsyncIterable<WatchFrame> })
  | (ApiResponseHead & { readonly kind: "bytes"; readonly bytes: AsyncIterable<Uint8Array> });

/**
 * Sends requests to one API server as one user.
 *
 * Guarantees: the promise resolves for every answer of the server, also for error codes (the object is then a
 * Status).
 * Errors: it rejects only when there is no answer (connection refused or cut, signal aborted); for a write
 * that means that it may or may not have happened.
 */
export interface Transport {
  send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse>;
  /**
   * The same for lists and watches whose reader keeps the objects as bytes. Only transports that have bytes
   * offer it; one that stands before another and must see every object leaves it out, and its user falls back
   * to `send`.
   */
  sendRaw?(request: ApiRequest, signal?: AbortSignal): Promise<RawResponse>;
}

/**
 * One frame of a watch whose object is JSON; the bytes are valid until the next batch of frames is requested.
 */
export interface RawFrame {
  readonly type: WatchEventType;
  readonly object: Uint8Array;
}

/** The objects of a list, each as its JSON, as they arrive. */
export interface RawList {
  /**
   * In the server's order; the bytes of a batch are valid until the next one is requested. Throws when the
   * list is cut.
   */
  readonly batches: AsyncIterable<readonly Uint8Array[]>;
  /** The metadata of the list; available after `batches` has ended. */
  metadata(): { readonly resourceVersion?: string; readonly continue?: string };
}

/** Answers that are neither a list nor a watch (a Status, most of all) come as from `send`. */
export type RawResponse =
  | ApiResponse
  | (ApiResponseHead & { readonly kind: "rawList"; readonly list: RawList })
  | (ApiResponseHead & { readonly kind: "rawWatch"; readonly frames: AsyncIterable<readonly RawFrame[]> });

/** A request's authenticated identity, as in a TokenReview's answer. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
