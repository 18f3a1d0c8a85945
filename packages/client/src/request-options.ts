/** The options of the verbs; names are those of the API's query parameters. */
import type { Clock, Metrics, Random } from "@setpoint/host";

/** Options that every request takes. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /**
   * Sent once: what a busy server asks to send again later is an error now. For what rests on a view that
   * would be old by then.
   */
  readonly once?: boolean;
}

/** Reads one object. */
export interface GetOptions extends RequestOptions {
  /** Absent: the newest; "0": any that a cache has; "N": not older than N. */
  readonly resourceVersion?: string;
}

/** The namespace and the selectors of a list, a watch or a collection delete. */
export interface SelectorOptions extends RequestOptions {
  /** One namespace; absent: all. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Lists one page; `continue` is the token of the page before. */
export interface ListPageOptions extends SelectorOptions {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
  /** Only apiVersion, kind and metadata of each object. */
  readonly metadataOnly?: boolean;
}

/** Lists all objects, page by page. */
export interface ListAllOptions extends SelectorOptions {
  /** Objects asked for in one page. */
  readonly pageSize?: number;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
  readonly metadataOnly?: boolean;
}

/** Where a watch starts, and how long the server keeps it open. */
export interface WatchOptions extends SelectorOptions {
  /** Events after this one; absent: the present objects first. */
  readonly resourceVersion?: string;
  /**
   * WatchList: the present objects, then a bookmark annotated `k8s.io/initial-events-end`, then live events.
   */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
}

/** Options that every write takes, as query parameters of the API. */
export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string;
  /**
   * Absent: as the server likes, `Warn`; for what is applied `Ignore`, because unknown fields are refused
   * there in any case.
   */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  readonly dryRun?: boolean;
}

/** The kind of patch, and the subresource that it changes. */
export interface PatchOptions extends WriteOptions {
  /** Default `merge`. */
  readonly type?: "merge" | "json" | "strategic";
  /** `status`, `scale`, …; absent: the object itself. */
  readonly subresource?: string;
}

/** Server-side apply: the field manager, and whether it takes over fields of other managers. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes fields over from other managers instead of a 409. */
  readonly force?: boolean;
}

/** The server refuses the request with 409 if the object has another UID or resourceVersion. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Deletes one object, with optional preconditions, grace period and propagation policy. */
export interface DeleteRequestOptions extends RequestOptions {
  readonly preconditions?: Preconditions;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly dryRun?: boolean;
}

/** Deletes the objects that match the selectors. */
export interface DeleteCollectionOptions extends SelectorOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly dryRun?: boolean;
}

/** What a client takes from outside, and its limits. */
export interface ClientOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: Metrics;
  /** How often one request is sent at most, the first time included; default 5. */
  readonly attemptsMax?: number;
  /** The longest wait that a server may ask for by Retry-After; default 30 s. */
  readonly retryDelayMsMax?: number;
}
