import type { NamespacedName, Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";

/** One of several equal processes acts, the others stand by with warm caches. */
export interface LeaderElectionOptions {
  /** The Lease's name and namespace. */
  readonly name: string;
  readonly namespace: string;
  /** This process; default: the manager's name and a random suffix. */
  readonly identity?: string;
  /** How long others wait for a silent leader; default 15. */
  readonly leaseDurationSeconds?: number;
  /** How long the leader tries to renew before it gives up; shorter than the duration; default 10. */
  readonly renewDeadlineSeconds?: number;
  /** How often is tried; default 2. */
  readonly retryPeriodSeconds?: number;
}

export interface ManagerOptions {
  readonly transport: Transport;
  readonly host: Host;
  readonly controllers: readonly ControllerDefinition[];
  /** Names the process in logs, events and its lease; default "setpoint". */
  readonly name?: string;
  /** Namespaces whose objects are looked at; absent: all. */
  readonly namespaces?: readonly string[];
  /** Absent: this process is the only one. */
  readonly leaderElection?: LeaderElectionOptions;
  /** How long stopping waits for running reconciles; default 10 s. */
  readonly shutdownMsMax?: number;
}

/** One thing that is looked at, and why it is not well. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

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
  /** Whether no key is waiting to run, running, or waiting for its own writes; delayed keys do not count. */
  isQuiet(): boolean;
  /** Runs a key of a controller as if something about it had changed. */
  enqueue(controller: string, key: NamespacedName): void;
  /** Whether the process works: watches are alive, the lease is. Red means: restart it. */
  healthz(): HealthReport;
  /** Whether it has what it needs to work: caches complete, watches fresh. */
  readyz(): HealthReport;
  /** The metrics in Prometheus' text format. */
  metrics(): string;
  /** Lets running reconciles end, releases the lease, closes the watches. */
  stop(): Promise<void>;
}
