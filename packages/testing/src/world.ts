/** What a scenario may do with a simulated world, and what it may see. */
import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { SimulatedHost } from "@setpoint/host/simulated";
import type { OutageKind } from "./node-outage.ts";

/** How long a call waits for its condition, in virtual time. */
export interface WaitOptions {
  /** Milliseconds of virtual time; default two minutes. */
  readonly within?: number;
}

/** How long `settled` waits, and which reconcile failure it expects. */
export interface SettledOptions extends WaitOptions {
  /** The reconcile must fail with this message. Any other failure fails the test. */
  readonly failing?: string | RegExp;
}

/** How long `expectQuiet` watches, and which reconcile failure it expects. */
export interface QuietOptions {
  /** Hours of virtual time; default 1. */
  readonly hours?: number;
  /** As in `settled`. */
  readonly failing?: string | RegExp;
}

/** A name in the namespace `default`, or both. */
export type ObjectName = string | NamespacedName;

/**
 * An API server, controllers, nodes and operators under one virtual clock. Time stands still between two
 * calls; each call advances it as far as it needs.
 */
export interface World extends AsyncDisposable {
  readonly host: SimulatedHost;
  /** As cluster-admin. Its promises need time to pass: pass them to `wait`. */
  readonly client: Client;
  /** Advances time until a promise resolves. */
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
   * Advances time until nothing writes any more and no object of the operators' kinds reports progress.
   * Throws when a reconcile, cleanup or daemon still fails then.
   */
  settled(options?: SettledOptions): Promise<void>;
  /** Advances time until the condition holds; checks it every tenth of a second. */
  until(what: string, condition: () => boolean | Promise<boolean>, options?: WaitOptions): Promise<void>;
  /**
   * Advances time by hours. In that time operators may only watch, renew leases and observe operands, and no
   * reconcile may fail.
   */
  expectQuiet(options?: QuietOptions): Promise<void>;

  /** Whether a node runs processes of this pod, whatever its status says. */
  runs(pod: ObjectName): boolean;
  /** As `kill -9` on the processes of a pod; throws when none run. */
  kill(pod: ObjectName): void;
  /** As a power cut of all nodes: every process of every pod dies at one moment. */
  killAll(): void;

  /** A node loses power (`off`, the default) or its network (`isolated`), until `recoverNode`. */
  failNode(node: string, kind?: OutageKind): void;
  recoverNode(node: string): Promise<void>;
  /** The data of a claim's volume is lost. The processes that use it die, and the claim is deleted. */
  loseVolume(claim: ObjectName): Promise<void>;

  /** Stops the operators' processes for this long, as SIGSTOP does. Default: those of all replicas. */
  pauseOperator(forMs: number, replica?: number): void;
  /** Sets the wall clocks of the operators' machines forward or back. */
  jumpOperatorClock(byMs: number, replica?: number): void;
  /** As `kill -9` on the operators' processes; they restart at once. */
  restartOperator(): Promise<void>;
  /** Stops the operators until `restartOperator`. */
  stopOperator(): void;
  /**
   * The operator's process dies before or after its n-th write (from 1, counted from the start of the world),
   * and restarts.
   */
  crashOperatorAt(write: number, when: "before" | "after"): void;
  /** The server executes the operator's n-th write, but the operator gets no answer. */
  loseAnswerOf(write: number): void;
  /** Writes of the operator so far, those to its operands included. */
  readonly operatorWrites: number;

  /** Each request: who sent it, when, and the outcome. */
  readonly trace: readonly string[];
  /** Equal for equal runs. */
  traceHash(): string;
}
