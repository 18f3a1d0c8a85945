/**
 * One PostgreSQL server of the model: it recovers, streams its log to replicas, waits for synchronous ones,
 * is promoted, and stops.
 */
import type { Host } from "@setpoint/host";
import { restartParameters } from "../kind/restart-parameters.ts";
import { lowerThan, type ServerLimits, serverLimits } from "../instance/server-limits.ts";
import type { PostgresServer, StopMode } from "../manager/postgres-server.ts";
import type { ServerFacts } from "../manager/sql.ts";
import { type Configuration, type InstanceData, positionText, streamRefusal } from "./instance-data.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";
import { parseSynchronousNames } from "./synchronous-names.ts";

/** What servers share: the network between them, and the laws. */
export interface PostgresNetwork {
  /** The server behind a host's name; undefined when `from` does not reach it. */
  readonly serverAt: (from: string, host: string) => SimulatedServer | undefined;
  readonly isConnected: (one: string, other: string) => boolean;
  /** How much longer the log takes to this instance. */
  readonly lagMsOf: (name: string) => number;
  readonly nextSerial: () => number;
  /** A server accepts commits from now on; `isPromoted`: it was a replica before. */
  readonly acceptsCommits: (server: SimulatedServer, isPromoted: boolean) => void;
  readonly follows: (replica: SimulatedServer, sender: SimulatedServer) => void;
}

export interface ServerSurroundings {
  readonly name: string;
  readonly disk: SimulatedDisk;
  readonly host: Host;
  readonly network: PostgresNetwork;
  readonly version: string;
  readonly onExit: () => void;
}

type Phase = "off" | "starting" | "replica" | "promoting" | "primary";

interface Wait {
  readonly end: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Bytes of a record: a commit is large, so that few of them are a lag. */
export const commitBytes = 0x10000;
const checkpointBytes = 0x100;
/** wal_retrieve_retry_interval is longer; a changed primary_conninfo begins at once. */
const reconnectMs = 1_000;
/** wal_receiver_timeout and wal_sender_timeout. */
export const silentLinkMs = 5_000;
const lookMs = 50;

export class SimulatedServer implements Pick<PostgresServer, keyof PostgresServer> {
  readonly name: string;
  lastFatal: string | undefined;
  readonly #around: ServerSurroundings;
  #phase: Phase = "off";
  #stopMode: StopMode | undefined;
  /** Of the process, so that what an earlier one has begun ends with it. */
  #run = 0;
  #loaded: Configuration | undefined;
  /** What it started with: some settings stay until the next start. */
  #started: Configuration | undefined;
  #hasReplayed = false;
  #upstream: SimulatedServer | undefined;
  #isReceiving = false;
  readonly #followers = new Set<SimulatedServer>();
  #waits: Wait[] = [];

  constructor(around: ServerSurroundings) {
    this.#around = around;
    this.name = around.name;
  }

  get isAlive(): boolean {
    return this.#phase !== "off";
  }

  get isStopping(): boolean {
    return this.#stopMode !== undefined;
  }

  get isPrimary(): boolean {
    return this.#phase === "primary";
  }

  get acceptsCommits(): boolean {
    return this.isPrimary && !this.isStopping;
  }

  /** Whether it lets sessions in. */
  get isAnswering(): boolean {
    if (this.isStopping || this.#phase === "off" || this.#phase === "starting") return false;
    return this.data.end >= this.data.consistentAt;
  }

  get upstream(): SimulatedServer | undefined {
    return this.#upstream;
  }

  get data(): InstanceData {
    const { data } = this.#around.disk;
    if (data === undefined) throw new Error(`Cannot use the server of ${this.name}: its volume has no data`);
    return data;
  }

  /** How many replicas have each commit before it is acknowledged. */
  get synchronousNumber(): number {
    return parseSynchronousNames(this.#loaded?.settings.synchronousStandbyNames ?? "")?.number ?? 0;
  }

  /** What it runs with, of a setting that needs a restart. */
  setting(name: string): string | undefined {
    return this.#started?.settings.parameters[name];
  }

  get #limits(): ServerLimits {
    return Object.fromEntries(serverLimits.map((name) => [name, Number(this.setting(name) ?? 0)]));
  }

  facts(): ServerFacts | undefined {
    if (!this.isAnswering) return undefined;
    const { data } = this;
    const isKnown = this.isPrimary || this.#hasReplayed;
    return {
      isPrimary: this.isPrimary,
      position: isKnown ? positionText(data.end) : undefined,
      replayed: this.isPrimary || !isKnown ? undefined : positionText(data.end),
      timeline: data.timeline,
      isStreaming: this.#upstream !== undefined,
      pendingRestart: restartParameters.filter(
        (each) => this.setting(each) !== this.#loaded?.settings.parameters[each],
      ),
      startedAt: String(this.#run),
      limits: this.#limits,
      version: this.#around.version,
      systemId: data.systemId,
    };
  }

  start(): void {
    if (this.isAlive) return;
    this.#phase = "starting";
    this.#run++;
    this.#loaded = this.data.configuration;
    this.#started = this.#loaded;
    this.lastFatal = undefined;
    this.#hasReplayed = false;
    this.#after(50, 400, () => (this.data.isStandby ? this.#recoverAsReplica() : this.#recoverAsPrimary()));
  }

  reload(): void {
    this.#after(10, 60, () => {
      const before = this.#loaded?.follows;
      this.#loaded = this.data.configuration;
      if (this.#phase === "replica" && this.#loaded?.follows !== before) this.#reconnect();
      this.#release();
    });
  }

  requestStop(mode: StopMode): void {
    if (!this.isAlive || this.#stopMode === mode || this.#stopMode === "immediate") return;
    this.#stopMode = mode;
    this.#cancelWaits("terminating connection due to administrator command");
    if (mode === "immediate") this.#after(5, 40, () => this.#exit());
    else if (this.isPrimary) this.#stopWhenSent(false);
    else
      this.#after(30, 150, () => {
        this.#writeCheckpoint();
        this.#exit();
      });
  }

  async stop(mode: StopMode): Promise<void> {
    this.requestStop(mode);
    await this.#until(() => !this.isAlive);
  }

  /** The process has been killed, and its manager with it. */
  die(): void {
    this.#end();
  }

  /** The process ends by itself, and its manager sees it. */
  crash(): void {
    this.#exit();
  }

  /** Resolves when it accepts commits; rejects when the server ends before. */
  async promote(): Promise<void> {
    if (this.#phase !== "replica") throw new Error("recovery is not in progress");
    this.#phase = "promoting";
    this.#disconnect();
    const run = this.#run;
    this.#after(50, 400, () => {
      this.data.beginTimeline();
      this.data.limits = this.#limits;
      this.data.append(checkpointBytes, this.#around.network.nextSerial());
      this.#phase = "primary";
      this.#sendAll();
      this.#around.network.acceptsCommits(this, true);
    });
    await this.#until(() => this.#phase !== "promoting" || this.#run !== run);
    if (this.#run !== run) throw new Error("server closed the connection unexpectedly");
  }

  /** Not before it does others see the new timeline of a promotion in the control file. */
  checkpoint(): void {
    if (!this.isPrimary) return;
    this.data.append(checkpointBytes, this.#around.network.nextSerial());
    this.#writeCheckpoint();
    this.#sendAll();
  }

  /**
   * Resolves when the commit is acknowledged; rejects when it is refused, or when nobody knows. A commit that
   * waits for replicas is on the volume already.
   */
  commit(id: string): Promise<void> {
    if (!this.acceptsCommits) return Promise.reject(new Error("the server accepts no writes"));
    const { end } = this.data.append(commitBytes, this.#around.network.nextSerial(), id);
    this.#sendAll();
    return new Promise((resolve, reject) => {
      this.#waits.push({ end, resolve, reject });
      this.#release();
    });
  }

  /** The connection with this server is silent for too long, on either side. */
  dropLink(other: SimulatedServer): void {
    this.#followers.delete(other);
    if (this.#upstream === other) this.#lostUpstream();
  }

  /** The link works again before anybody has noticed that it did not. */
  resumeLink(): void {
    this.#receiveSoon();
  }

  #recoverAsReplica(): void {
    const [low] = lowerThan(this.#started?.settings.parameters ?? {}, this.data.limits);
    if (low !== undefined) {
      this.lastFatal = `FATAL:  recovery aborted because of insufficient parameter settings: ${low}`;
      return this.#exit();
    }
    this.#phase = "replica";
    this.#after(10, 150, () => {
      this.#hasReplayed = true;
      this.#connect();
    });
  }

  #recoverAsPrimary(): void {
    this.data.limits = this.#limits;
    this.#phase = "primary";
    this.data.append(checkpointBytes, this.#around.network.nextSerial());
    this.#writeCheckpoint();
    this.#around.network.acceptsCommits(this, false);
  }

  #writeCheckpoint(): void {
    const { data } = this;
    data.checkpoint = { timeline: data.timeline, position: data.end };
  }

  #connect(): void {
    const { network } = this.#around;
    if (this.#phase !== "replica" || this.isStopping || this.#upstream !== undefined) return;
    const sender = network.serverAt(this.name, this.#loaded?.follows ?? "");
    if (sender?.isAnswering !== true || streamRefusal(sender.data, this.data) !== undefined)
      return this.#after(reconnectMs, reconnectMs + lookMs, () => this.#connect());
    network.follows(this, sender);
    this.#upstream = sender;
    sender.#followers.add(this);
    this.#receiveSoon();
  }

  #reconnect(): void {
    this.#disconnect();
    this.#connect();
  }

  #disconnect(): void {
    const sender = this.#upstream;
    if (sender === undefined) return;
    this.#upstream = undefined;
    sender.#followers.delete(this);
  }

  #lostUpstream(): void {
    this.#disconnect();
    this.#after(reconnectMs, reconnectMs + lookMs, () => this.#connect());
  }

  #sendAll(): void {
    for (const follower of this.#followers) follower.#receiveSoon();
  }

  #receiveSoon(): void {
    if (this.#isReceiving) return;
    this.#isReceiving = true;
    const lagMs = this.#around.network.lagMsOf(this.name);
    this.#after(1 + lagMs, 15 + lagMs, () => this.#receive());
  }

  #receive(): void {
    this.#isReceiving = false;
    const sender = this.#upstream;
    if (sender === undefined || !this.#around.network.isConnected(this.name, sender.name)) return;
    this.data.receive(sender.data);
    sender.#release();
    this.#sendAll();
  }

  /** Acknowledges the commits that enough replicas have. */
  #release(): void {
    const rule = parseSynchronousNames(this.#loaded?.settings.synchronousStandbyNames ?? "");
    const named = [...this.#followers].filter(({ name }) => rule?.names.includes(name));
    const isSafe = ({ end }: Wait): boolean =>
      rule === undefined || named.filter(({ data }) => data.end >= end).length >= rule.number;
    const safe = this.#waits.filter(isSafe);
    this.#waits = this.#waits.filter((wait) => !safe.includes(wait));
    for (const { resolve } of safe) resolve();
  }

  #cancelWaits(why: string): void {
    for (const { reject } of this.#waits.splice(0)) reject(new Error(why));
  }

  /** A fast stop writes its checkpoint when replicas have the rest, and ends when they have that, too. */
  #stopWhenSent(hasCheckpoint: boolean): void {
    const isSent = [...this.#followers].every(({ data }) => data.end >= this.data.end);
    if (!isSent) return this.#after(lookMs, lookMs + 1, () => this.#stopWhenSent(hasCheckpoint));
    if (hasCheckpoint) return this.#exit();
    this.data.append(checkpointBytes, this.#around.network.nextSerial());
    this.#writeCheckpoint();
    this.#sendAll();
    this.#stopWhenSent(true);
  }

  #exit(): void {
    if (!this.isAlive) return;
    this.#end();
    this.#around.onExit();
  }

  #end(): void {
    this.#phase = "off";
    this.#stopMode = undefined;
    this.#run++;
    this.#isReceiving = false;
    this.#cancelWaits("server closed the connection unexpectedly");
    this.#disconnect();
    for (const follower of this.#followers) follower.#after(1, 20, () => follower.#senderEnded(this));
    this.#followers.clear();
  }

  #senderEnded(sender: SimulatedServer): void {
    if (this.#upstream === sender) this.#lostUpstream();
  }

  #after(minMs: number, maxMs: number, then: () => void): void {
    const { clock, random } = this.#around.host;
    const run = this.#run;
    clock.setTimer(
      () => {
        if (this.#run === run) then();
      },
      minMs + random.int(maxMs - minMs),
    );
  }

  #until(isSo: () => boolean): Promise<void> {
    const { clock } = this.#around.host;
    return new Promise((resolve) => {
      const look = (): void => {
        if (isSo()) resolve();
        else clock.setTimer(look, lookMs);
      };
      look();
    });
  }
}
