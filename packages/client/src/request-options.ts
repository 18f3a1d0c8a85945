/** The options of the verbs; names are those of the API's query parameters. */
import type { Clock, Metrics, Random } from "@setpoint/host";

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /**
   * Sent once: what a busy server asks to send again later is an error now. For what rests on a view that would be old by then.
   */
  readonly once?: boolean;
}

export interface GetOptions extends RequestOptions {
  /** Absent: the newest; "0": any that a cache has; "N": not older than N. */
  readonly resourceVersion?: string;
}

export interface SelectorOptions extends RequestOptions {
  /** One namespace; absent: all. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListPageOptions extends SelectorOptions {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
  /** Only apiVersion, kind and metadata of each object. */
  readonly metadataOnly?: boolean;
}

export interface ListAllOptions extends SelectorOptions {
  /** Objects asked for in one page. */
  readonly pageSize?: number;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
  readonly metadataOnly?: boolean;
}

export interface WatchOptions extends SelectorOptions {
  /** Events after this one; absent: the present objects first. */
  readonly resourceVersion?: string;
  /** WatchList: the present objects, then a bookmark annotated `k8s.io/initial-events-end`, then live events. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
}

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string;
  /** Absent: as the server likes, `Warn`; for what is applied `Ignore`, because unknown fields are refused there in any case. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  readonly dryRun?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** Default `merge`. */
  readonly type?: "merge" | "json" | "strategic";
  /** `status`, `scale`, …; absent: the object itself. */
  readonly subresource?: string;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes fields over from other managers instead of a 409. */
  readonly force?: boolean;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteRequestOptions extends RequestOptions {
  readonly preconditions?: Preconditions;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly dryRun?: boolean;
}

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
