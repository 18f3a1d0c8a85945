/**
 * An operator's process in a world: it can crash at any write, and restarts with nothing but what is in the
 * cluster.
 */
import type { Transport } from "@setpoint/apimachinery";
import type { Host, Timer } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import type { Manager, SlowedKey } from "@setpoint/runtime";
import type { Operator } from "setpoint";
import { runOperator } from "setpoint/process";
import type { Participant, Strike } from "./participant.ts";
import type { ProcessLink } from "./process-link.ts";
import { type ClockSkew, ProcessClock } from "./process-clock.ts";
import { type FailingReconcile, FailureObserver, type ReconcileFailures } from "./reconcile-failures.ts";

/** What an operator's process is given besides the API server. */
export interface OperatorProcess {
  /**
   * Reaches something that is not the API server (an operand's own API): traced, counted with the writes,
   * struck by the same faults, and cut off when the process dies.
   */
  call<T>(what: string, kind: "look" | "write", send: () => Promise<T>): Promise<T>;
}

/** An operator, or a function that creates one for each of its processes. */
export type OperatorSource = Operator | ((process: OperatorProcess) => Operator);

export interface SimulatedOperatorOptions {
  readonly source: OperatorSource;
  readonly host: Host;
  /** The operator's name, which its replicas share. */
  readonly group: string;
  /** From 0. */
  readonly replica: number;
  readonly participant: Participant;
  readonly transport: Transport;
  readonly leaseNamespace?: string;
  /** Shared by the replicas. */
  readonly failures: ReconcileFailures;
  /** How the clock of its machine differs from the world's. */
  readonly skew?: ClockSkew;
}

/** How long a node takes to start a process again. */
const restartMsMin = 500;
const restartMsMax = 5_000;
const seedMax = 2 ** 32;

export class SimulatedOperator {
  readonly #options: SimulatedOperatorOptions;
  #life:
    | {
        readonly link: ProcessLink;
        readonly clock: ProcessClock;
        readonly manager: Manager;
        readonly observer: FailureObserver;
      }
    | undefined;
  #restart: Timer | undefined;
  #unpause: Timer | undefined;
  /** How far its machine's wall clock was set, which outlives a process. */
  #jumpedMs = 0;

  constructor(options: SimulatedOperatorOptions) {
    this.#options = options;
  }

  get writeCount(): number {
    return this.#options.participant.writeCount;
  }

  get name(): string {
    return this.#options.participant.name;
  }

  get group(): string {
    return this.#options.group;
  }

  get replica(): number {
    return this.#options.replica;
  }

  get isLeader(): boolean {
    return this.#life?.manager.isLeader() ?? false;
  }

  /** Whether it runs and no key is waiting to run or running. */
  get isQuiet(): boolean {
    return this.#life?.manager.isQuiet() ?? false;
  }

  /** Keys that run again and again for no reason but themselves. */
  get loops(): readonly SlowedKey[] {
    return (this.#life?.manager.slowedKeys() ?? []).filter(({ reason }) => reason === "ReconcileLoop");
  }

  /** Resolves when its caches are complete. */
  get ready(): Promise<void> {
    return this.#life?.manager.ready ?? Promise.resolve();
  }

  /** Reconciles whose last run has thrown, in this process or another replica. */
  get failing(): readonly FailingReconcile[] {
    return this.#options.failures.all;
  }

  /** Runs a failing key now, as its next retry would. */
  retry({ controller, key }: FailingReconcile): void {
    const [name = "", namespace] = key.split("/").toReversed();
    this.#life?.manager.enqueue(controller, namespace === undefined ? { name } : { namespace, name });
  }

  strikeAt(write: number, fault: Strike): void {
    this.#options.participant.faults.set(write, fault);
  }

  start(): void {
    const { source, host, participant, transport, leaseNamespace, failures } = this.#options;
    this.#restart?.cancel();
    const { offsetMs = 0, rate = 1 } = this.#options.skew ?? {};
    const clock = new ProcessClock(host.clock, { offsetMs: offsetMs + this.#jumpedMs, rate });
    const link = participant.process(() => this.#crashed(), clock);
    const calls: OperatorProcess = { call: (what, kind, send) => link.call(what, kind, send) };
    const operator = typeof source === "function" ? source(calls) : source;
    const observer = new FailureObserver(failures, clock);
    const controllers = operator.controllers.map((each) => observer.observed(each));
    const manager = runOperator(
      { ...operator, controllers },
      {
        transport: link.transport(transport),
        // Its own chance: what still stirs in a process that has died must not use up that of the living.
        host: { ...host, clock, random: seededRandom(host.random.int(seedMax)), tracer: observer.tracer },
        ...(leaseNamespace === undefined ? {} : { leaseNamespace }),
      },
    );
    this.#life = { link, clock, manager, observer };
    // A process whose lease is lost ends, and its node starts it again.
    manager.done.catch(() => {
      if (this.#life?.manager === manager) this.#crashed();
    });
  }

  /** As SIGSTOP now and SIGCONT after so long: it does and hears nothing meanwhile, and does not know it. */
  pause(forMs: number): void {
    const clock = this.#life?.clock;
    if (clock === undefined) return;
    clock.pause();
    this.#unpause?.cancel();
    this.#unpause = this.#options.host.clock.setTimer(() => clock.resume(), forMs);
  }

  /** The wall clock of its machine is set forward or back. */
  jumpClock(byMs: number): void {
    this.#jumpedMs += byMs;
    this.#life?.clock.jump(byMs);
  }

  /** Requests for leases take so much longer for a while. */
  slowLeases(delayMs: number, forMs: number): void {
    this.#options.participant.slowLeases(delayMs, forMs);
  }

  /** After the next deletion of a resource its watches show nothing of it for so long. */
  holdWatchesAfterDeletion(resource: string, forMs: number): void {
    this.#options.participant.views?.holdAfterDeletion(resource, forMs);
  }

  /** As `kill -9`; it stays away until it is started. */
  kill(): void {
    this.#life?.link.end();
    this.#life?.clock.stop();
    this.#life?.observer.stop();
    this.#life = undefined;
    this.#restart?.cancel();
  }

  #crashed(): void {
    this.kill();
    const { clock, random } = this.#options.host;
    this.#restart = clock.setTimer(() => this.start(), restartMsMin + random.int(restartMsMax - restartMsMin));
  }
}
