import type { NamespacedName, Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { CacheOptions } from "../cache/cache-options.ts";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { WhyQuery, WhyReport } from "../why/why-report.ts";
import type { ProtectionReason } from "../protection/protections.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { DryRunReport } from "../controller/dry-run-report.ts";
import type { LeaderElectionOptions, ShardingOptions } from "../coordination/lease-options.ts";

/** The group as one of its members sees it. */
export interface ShardState {
  readonly identity: string;
  /** Counts the changes of the membership; 0 before this process is a member. */
  readonly epoch: number;
  readonly members: readonly string[];
  /** The share of all keys that this process owns, and the share that it may already run. */
  readonly share: number;
  readonly runnableShare: number;
}

/** Clusters by name. They can be added and removed while the manager runs. */
export interface ClusterRegistry {
  /** Starts the controllers in another cluster. Throws `ERR_CLUSTER` when the name is in use. */
  add(name: string, transport: Transport): void;
  /**
   * Stops the controllers of the cluster: no new runs, running ones end, watches close. Resolves when that is
   * done.
   */
  remove(name: string): Promise<void>;
  names(): readonly string[];
}

/** Adds and removes clusters while the manager runs. Called once, at the start. */
export type ClusterProvider = (clusters: ClusterRegistry, signal: AbortSignal) => void | Promise<void>;

/** The time limits of the health checks, in milliseconds. */
export interface HealthOptions {
  /** A ready key that waits for longer makes the process unready; default 300,000 (5 minutes). */
  readonly queueAgeMsMax?: number;
  /** A run that takes longer makes the process unhealthy; default 900,000 (15 minutes). */
  readonly reconcileMsMax?: number;
}

/**
 * What a manager runs, and where. `startManager` validates it and throws for options that exclude each other.
 */
export interface ManagerOptions {
  /**
   * The cluster of the process. Its leases are there, and its controllers work there unless there are
   * `clusters`.
   */
  readonly transport: Transport;
  readonly host: Host;
  readonly controllers: readonly ControllerDefinition[];
  /** The name of the process in logs, events and its lease; default "setpoint". */
  readonly name?: string;
  /** Namespaces whose objects are reconciled; absent: all. */
  readonly namespaces?: readonly string[];
  /**
   * One replica works, the others stand by. Without this and `sharding`, this process must be the only one.
   */
  readonly leaderElection?: LeaderElectionOptions;
  /** All replicas work, each for its share of the keys. Excludes `leaderElection`. */
  readonly sharding?: ShardingOptions;
  /** The clusters in which the controllers work. */
  readonly clusters?: ClusterProvider;
  readonly health?: HealthOptions;
  /** What is cached, and how: selections and projections by kind. */
  readonly caches?: CacheOptions;
  /** For a transport that only pretends to write: nothing outside of the API is changed either. */
  readonly dryRun?: DryRunReport;
  /** How long a stop waits for running reconciles; default 10 s. */
  readonly shutdownMsMax?: number;
}

/** One health check, and why it fails. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  /**
   * Reported, but no reason to restart this process or to stop its traffic: another cluster has the problem.
   */
  readonly isWarning?: boolean;
}

/** The answer of a health check. `ok` is false when a check fails. */
export interface HealthReport {
  readonly ok: boolean;
  readonly checks: readonly HealthCheck[];
}

/** A key of a controller that is ready, running or waiting for its own writes. */
export interface BusyKey {
  readonly controller: string;
  /** `namespace/name`, or the name of an object without a namespace. */
  readonly key: string;
}

/** A key that a protection holds back, because its controller misbehaves. */
export interface SlowedKey extends BusyKey {
  readonly reason: ProtectionReason;
  /** Why its last run wants another one, or the error with which it failed. */
  readonly lastResult?: string;
}

/** A running set of controllers. */
export interface Manager extends AsyncDisposable {
  /** Resolves when all caches are complete; rejects when the manager stops before. */
  readonly ready: Promise<void>;
  /** Resolves when the manager has stopped; rejects with `ERR_LEASE_LOST` when it lost its lease. */
  readonly done: Promise<void>;
  /** A client whose writes check the lease. */
  readonly client: Client;
  /** Shared caches; ask for one before or after the start. */
  readonly informers: InformerFactory;
  /** Whether this process may write. */
  isLeader(): boolean;
  /** This process as a member of its group; undefined without `sharding`. */
  shard(): ShardState | undefined;
  /** Other clusters than the one in which the process lives. */
  readonly clusters: ClusterRegistry;
  /** Whether no key is waiting to run, running, or waiting for its own writes; delayed keys do not count. */
  isQuiet(): boolean;
  /** The keys because of which `isQuiet` is false. */
  busyKeys(): readonly BusyKey[];
  /** The keys that run at a slower pace until the cause is gone. */
  slowedKeys(): readonly SlowedKey[];
  /** Enqueues a key of a controller; without a cluster's name in all clusters. */
  enqueue(controller: string, key: NamespacedName, cluster?: string): void;
  /**
   * Why an object was reconciled, what was done, what it waits for; undefined when no controller knows the
   * object.
   */
  why(query: WhyQuery): Promise<WhyReport | undefined>;
  /** Liveness: watches and the lease work. When it fails, restart the process. */
  healthz(): HealthReport;
  /** Readiness: caches are complete, watches are fresh. */
  readyz(): HealthReport;
  /** The metrics in Prometheus' text format. */
  metrics(): string;
  /** Waits for running reconciles, releases the lease, closes the watches. */
  stop(): Promise<void>;
}
