import type { Timer } from "@setpoint/host";
import { Reachability } from "../operands/reachability.ts";
import type { Launch, Program, SimulatedVolume } from "../program-model.ts";
import { PostgresData } from "./postgres-data.ts";

/** What an instance needs of the others. */
export interface PostgresNetwork {
  at(address: string): PostgresInstance | undefined;
  started(instance: PostgresInstance): void;
  ended(instance: PostgresInstance): void;
}

/** The time that a record is under way to a standby, and that a standby waits before it connects again. */
const replicationMsMax = 50;
const reconnectMs = 1_000;
const killedCode = 137;
const dataFile = "pgdata";

/**
 * A process of PostgreSQL on its volume. Without data it waits until an operator initialises or clones it.
 */
export class PostgresInstance implements Program {
  readonly launch: Launch;
  readonly network: Reachability;
  isFenced = false;
  readonly #peers: PostgresNetwork;
  readonly #volume: SimulatedVolume;
  #isRunning = true;
  #receiving: Timer | undefined;
  #waiting: { readonly lsn: number; readonly resolve: () => void }[] = [];

  constructor(launch: Launch, peers: PostgresNetwork) {
    this.launch = launch;
    this.#peers = peers;
    this.network = new Reachability(`${launch.podIp}:5432`);
    const [volume] = launch.volumes.values();
    this.#volume = volume ?? { id: "", files: new Map() };
    peers.started(this);
    if (this.data !== undefined) this.#opened();
  }

  get name(): string {
    return this.launch.podName;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get data(): PostgresData | undefined {
    const data = this.#volume.files.get(dataFile);
    return data instanceof PostgresData ? data : undefined;
  }

  set data(data: PostgresData) {
    this.#volume.files.set(dataFile, data);
    this.#opened();
  }

  /** Accepts writes: it has data, follows nobody and is not fenced. */
  get isPrimary(): boolean {
    return this.#isRunning && !this.isFenced && this.data !== undefined && this.data.upstream === undefined;
  }

  /** Whether another instance can talk to it. */
  get isReachable(): boolean {
    return this.#isRunning && this.network.outage === undefined;
  }

  /** Follows from now on, or goes on as a primary. */
  follow(upstream: string | undefined): void {
    if (this.data === undefined) return;
    this.data.upstream = upstream;
    this.#receiving?.cancel();
    this.#receiveSoon();
  }

  /** Resolves when so many standbys have the record. */
  acknowledged(lsn: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ lsn, resolve });
      this.standbyAdvanced();
    });
  }

  /** To be called when a standby has more than before. */
  standbyAdvanced(): void {
    const { data } = this;
    if (data === undefined) return;
    this.#waiting = this.#waiting.filter(({ lsn, resolve }) => {
      if (data.synchronous > 0 && this.#standbysAt(lsn) < data.synchronous) return true;
      resolve();
      return false;
    });
  }

  terminate(): void {
    this.#end(0);
  }

  kill(): void {
    this.#end(killedCode);
  }

  /** What is on its disk is lost, and the process dies of it. */
  loseDisk(): void {
    this.#volume.files.clear();
    this.kill();
  }

  readonly #standbys = new Map<string, number>();

  #standbysAt(lsn: number): number {
    return [...this.#standbys.values()].filter((each) => each >= lsn).length;
  }

  #opened(): void {
    this.launch.ready(true);
    this.#receiveSoon();
  }

  #receiveSoon(delayMs = this.launch.host.random.int(replicationMsMax)): void {
    this.#receiving?.cancel();
    if (this.data?.upstream === undefined || !this.#isRunning) return;
    this.#receiving = this.launch.host.clock.setTimer(() => this.#receive(), delayMs);
  }

  #receive(): void {
    const { data } = this;
    const upstream = data?.upstream === undefined ? undefined : this.#peers.at(data.upstream);
    if (data === undefined || upstream?.data === undefined || !this.isReachable || !upstream.isReachable)
      return this.#receiveSoon(reconnectMs);
    // "requested starting point is ahead of the WAL flush position": it stays connected to nothing.
    if (data.hasDivergedFrom(upstream.data)) return this.#receiveSoon(reconnectMs);
    data.receiveFrom(upstream.data);
    upstream.#standbys.set(this.name, data.lsn);
    upstream.standbyAdvanced();
    this.#receiveSoon();
  }

  #end(code: number): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#receiving?.cancel();
    // A client that waits for a commit gets no answer.
    this.#waiting = [];
    this.#peers.ended(this);
    this.launch.exited(code);
  }
}
