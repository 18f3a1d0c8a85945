import type { NamespacedName, Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { CacheOptions } from "../cache/cache-options.ts";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { WhyQuery, WhyReport } from "../why/why-report.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { LeaderElectionOptions, ShardingOptions } from "../coordination/lease-options.ts";

/** What a member of a group knows of it. */
export interface ShardState {
  readonly identity: string;
  /** Counts the changes of the membership; 0 before this process is a member. */
  readonly epoch: number;
  readonly members: readonly string[];
  /** The part of all keys that is this process's, and the part that it may run already. */
  readonly share: number;
  readonly runnableShare: number;
}

/** Clusters by name, which may come and go while the manager runs. */
export interface ClusterRegistry {
  /** Starts the controllers in another cluster; throws `ERR_CLUSTER` when there is one of this name. */
  add(name: string, transport: Transport): void;
  /** Ends them: no new runs, running ones end, watches close. Resolves when that is done. */
  remove(name: string): Promise<void>;
  names(): readonly string[];
}

/** Adds and removes clusters for as long as the manager runs; told once, at the start. */
export type ClusterProvider = (clusters: ClusterRegistry, signal: AbortSignal) => void | Promise<void>;

/** After how long something is taken for ill. */
export interface HealthOptions {
  /** A key that is ready and waits for longer makes the process unready; default 300,000 (5 minutes). */
  readonly queueAgeMsMax?: number;
  /** A run that takes longer makes the process unhealthy; default 900,000 (15 minutes). */
  readonly reconcileMsMax?: number;
}

/**
 * What a manager runs, and where. `startManager` validates it and throws for options that exclude each other.
 */
export interface ManagerOptions {
  /** The cluster in which the process lives: its leases are there, and its controllers work there unless there are `clusters`. */
  readonly transport: Transport;
  readonly host: Host;
  readonly controllers: readonly ControllerDefinition[];
  /** Names the process in logs, events and its lease; default "setpoint". */
  readonly name?: string;
  /** Namespaces whose objects are looked at; absent: all. */
  readonly namespaces?: readonly string[];
  /** One works, the others stand by. Without this and `sharding`, this process is the only one. */
  readonly leaderElection?: LeaderElectionOptions;
  /** All work, each for its share of the keys. Not together with `leaderElection`. */
  readonly sharding?: ShardingOptions;
  /** The clusters in which the controllers work. */
  readonly clusters?: ClusterProvider;
  readonly health?: HealthOptions;
  /** What is cached, and how: selections and projections by kind. */
  readonly caches?: CacheOptions;
  /** How long stopping waits for running reconciles; default 10 s. */
  readonly shutdownMsMax?: number;
}

/** One thing that is looked at, and why it is not well. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  /** Told, but no reason to restart this process or to keep requests from it: another cluster is ill. */
  readonly isWarning?: boolean;
}

/** The answer of a health check. `ok` is false when a check fails. */
export interface HealthReport {
  readonly ok: boolean;
  readonly checks: readonly HealthCheck[];
}

/** A running set of controllers. */
export interface Manager extends AsyncDisposable {
  /** Resolves when all caches are complete; rejects when the manager stops before. */
  readonly ready: Promise<void>;
  /** Resolves when the manager has stopped; rejects with `ERR_LEASE_LOST` when it lost its lease. */
  readonly done: Promise<void>;
  /** Its writes check the lease. */
  readonly client: Client;
  /** Shared caches; ask for one before or after the start. */
  readonly informers: InformerFactory;
  /** Whether this process may write. */
  isLeader(): boolean;
  /** This process in its group; undefined without `sharding`. */
  shard(): ShardState | undefined;
  /** Other clusters than the one in which the process lives. */
  readonly clusters: ClusterRegistry;
  /** Whether no key is waiting to run, running, or waiting for its own writes; delayed keys do not count. */
  isQuiet(): boolean;
  /** Runs a key of a controller as if something about it had changed; without a cluster's name in all clusters. */
  enqueue(controller: string, key: NamespacedName, cluster?: string): void;
  /** Why an object was reconciled, what was done, what is waited for; undefined when no controller knows such an object. */
  why(query: WhyQuery): Promise<WhyReport | undefined>;
  /** Whether the process works: watches are alive, the lease is. Red means: restart it. */
  healthz(): HealthReport;
  /** Whether it has what it needs to work: caches complete, watches fresh. */
  readyz(): HealthReport;
  /** The metrics in Prometheus' text format. */
  metrics(): string;
  /** Lets running reconciles end, releases the lease, closes the watches. */
  stop(): Promise<void>;
}
