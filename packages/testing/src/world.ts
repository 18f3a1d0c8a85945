/** What a scenario may do with a simulated world, and what it may see. */
import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { SimulatedHost } from "@setpoint/host/simulated";
import type { OutageKind } from "./node-outage.ts";

/** How long `until` and the like wait. */
export interface WaitOptions {
  /** Milliseconds of virtual time; default two minutes. */
  readonly within?: number;
}

/** How long `settled` waits, and which reconcile failure it expects. */
export interface SettledOptions extends WaitOptions {
  /** The reconcile is expected to fail with this message, which must be so; any other failure is one of the test. */
  readonly failing?: string | RegExp;
}

/** How long `quiet` watches, and which reconcile failure it expects. */
export interface QuietOptions {
  /** Hours of virtual time; default 1. */
  readonly hours?: number;
  /** As in `settled`. */
  readonly failing?: string | RegExp;
}

/** A name in the namespace `default`, or both. */
export type ObjectName = string | NamespacedName;

/**
 * An API server, controllers, nodes and operators under one virtual clock. Nothing happens between two calls; each call lets as
 * much time pass as it needs.
 */
export interface World extends AsyncDisposable {
  readonly host: SimulatedHost;
  /** As cluster-admin. Its promises need time to pass: hand them to `wait`. */
  readonly client: Client;
  /** Lets time pass until a promise is done. */
  wait<T>(promise: Promise<T>, options?: WaitOptions): Promise<T>;

  apply<T extends KubeObject>(object: T): Promise<Stored<T>>;
  get<T extends KubeObject>(kind: KindRef<T>, name: ObjectName): Promise<Stored<T>>;
  /** All of the kind, in all namespaces. */
  list<T extends KubeObject>(kind: KindRef<T>): Promise<readonly Stored<T>[]>;
  /** A merge patch. */
  patch<T extends KubeObject>(kind: KindRef<T>, name: ObjectName, patch: unknown): Promise<Stored<T>>;
  delete(kind: KindRef, name: ObjectName): Promise<void>;

  run(milliseconds: number): Promise<void>;
  /**
   * Lets time pass until nothing is written any more and no object of the operators' kinds says that it progresses. Throws when a
   * reconcile, cleanup or daemon still fails then.
   */
  settled(options?: SettledOptions): Promise<void>;
  /** Lets time pass until the condition holds; looks at it every tenth of a second. */
  until(what: string, condition: () => boolean | Promise<boolean>, options?: WaitOptions): Promise<void>;
  /** Lets hours pass in which nobody may do more than watch, renew leases and look at operands, and no reconcile may fail. */
  expectQuiet(options?: QuietOptions): Promise<void>;

  /** Whether a node runs processes of this pod, whatever its status says. */
  runs(pod: ObjectName): boolean;
  /** As `kill -9` on the processes of a pod; throws when none run. */
  kill(pod: ObjectName): void;
  /** As a power cut of all nodes: every process of every pod dies at one moment. */
  killAll(): void;

  /** A node loses power (`off`, the default), or goes on and nobody hears of it (`isolated`), until `recoverNode`. */
  failNode(node: string, kind?: OutageKind): void;
  recoverNode(node: string): Promise<void>;
  /** What is on a claim's volume is lost; the processes that use it die, and the claim is deleted. */
  loseVolume(claim: ObjectName): Promise<void>;

  /** The operators' processes stand still for so long (as SIGSTOP), and do not know it. Default: of all replicas. */
  pauseOperator(forMs: number, replica?: number): void;
  /** The wall clocks of the operators' machines are set forward or back. */
  jumpOperatorClock(byMs: number, replica?: number): void;
  /** As `kill -9` on the operators' processes; they come back at once. */
  restartOperator(): Promise<void>;
  /** The operators stay away until `restartOperator`. */
  stopOperator(): void;
  /** The operator's process dies before or after its n-th write (from 1, counted from the start of the world), and comes back. */
  crashOperatorAt(write: number, when: "before" | "after"): void;
  /** The operator's n-th write is done, and it never hears of it. */
  loseAnswerOf(write: number): void;
  /** Writes of the operator so far, those to its operands included. */
  readonly operatorWrites: number;

  /** Who asked what, when, and the outcome. */
  readonly trace: readonly string[];
  /** Equal for equal runs. */
  traceHash(): string;
}
