/**
 * The process in the pod of one instance: the instance manager itself, with its loops, on models of its
 * volume, its server and its peers.
 */
import { sleep } from "@setpoint/host";
import type { Launch, Program } from "setpoint/testing";
import type { AskPeer } from "../manager/lease-keeper.ts";
import { keepLease } from "../manager/lease-keeper.ts";
import { InstanceManager } from "../manager/instance-manager.ts";
import type { ManagerClock } from "../manager/manager-clock.ts";
import type { InstanceManagerParts } from "../manager/manager-parts.ts";
import { fenceOn, stepOn } from "../manager/manager-loops.ts";
import { PrimaryLease } from "../manager/primary-lease.ts";
import { Wakeup } from "../manager/wakeup.ts";
import { paths } from "../manager/paths.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { type Rejoining, SimulatedFiles } from "./simulated-files.ts";
import { type PostgresNetwork, SimulatedServer } from "./simulated-server.ts";
import { SimulatedSql } from "./simulated-sql.ts";

export interface InstanceSurroundings {
  readonly network: PostgresNetwork;
  readonly askPeer: (from: string) => AskPeer;
  readonly nextSystemId: () => string;
  readonly rejoined: (name: string, how: Rejoining) => void;
  readonly ended: (instance: SimulatedInstance) => void;
}

/** The model has one major version. */
const noUpgrade: InstanceManagerParts["upgrade"] = {
  report: undefined,
  safetyCopy: undefined,
  isAnalyzing: false,
  asked: () => undefined,
  check: () => {},
  run: async () => {},
  settle: async () => "ready",
  analyze: () => {},
  tidy: () => {},
};

const probeEveryMs = 1_000;
const killedCode = 137;

export class SimulatedInstance implements Program {
  readonly name: string;
  readonly launch: Launch;
  readonly server: SimulatedServer;
  readonly manager: InstanceManager;
  readonly #around: InstanceSurroundings;
  readonly #stopping = new AbortController();
  readonly #clock: ManagerClock;
  #isEnded = false;

  constructor(launch: Launch, around: InstanceSurroundings) {
    this.launch = launch;
    this.name = launch.command.at(-1) ?? "";
    this.#around = around;
    const { name } = this;
    const { network, nextSystemId, rejoined } = around;
    const { host, volumes, image } = launch;
    const volume = volumes.get(paths.volume);
    if (volume === undefined) throw new Error(`Cannot start instance "${name}": nothing is mounted at ${paths.volume}`);
    const disk = new SimulatedDisk(volume);
    this.#clock = { monotonic: () => host.clock.monotonic(), sleep: (ms, signal) => this.#sleep(ms, signal) };
    const clock = this.#clock;
    const take = async (minMs: number, maxMs: number): Promise<void> =>
      this.#sleep(minMs + host.random.int(maxMs - minMs), undefined);
    const version = `${image.split(":").at(-1) ?? ""}.1`;
    const onExit = (): void => this.manager.serverEnded();
    this.server = new SimulatedServer({ name, disk, host, network, version, onExit });
    this.manager = new InstanceManager({
      name,
      clock,
      data: new SimulatedFiles({ name, disk, network, nextSystemId, rejoined, take }),
      server: this.server,
      sql: new SimulatedSql(this.server, clock, take),
      lease: new PrimaryLease(),
      archive: { readReport: () => undefined, serverEnds: () => {} },
      document: { read: () => disk.document, write: (document) => void (disk.document = document) },
      // The model knows no settings that PostgreSQL would refuse.
      settings: { errors: [], accepted: async (wanted) => wanted, prove: () => {}, blame: () => false },
      innerObjects: { readPassword: () => "", ensure: () => take(5, 50) },
      dataImport: { run: () => take(1_000, 5_000) },
      baseCopy: { run: () => take(1_000, 5_000) },
      upgrade: noUpgrade,
      wakeup: new Wakeup(clock),
      complain: () => {},
    });
    void this.#run().catch(() => this.#exit(1));
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  terminate(): void {
    this.#stopping.abort();
  }

  kill(): void {
    this.#exit(killedCode);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { manager } = this;
    const clock = this.#clock;
    await Promise.all([
      stepOn(manager, signal),
      fenceOn(manager, clock, signal),
      keepLease({ manager, clock, askPeer: this.#around.askPeer(this.name) }, signal),
      this.#probe(signal),
    ]);
    await manager.shutDown();
    this.#exit(0);
  }

  async #probe(signal: AbortSignal): Promise<void> {
    let last = false;
    while (!signal.aborted) {
      const isReady = await this.manager.isReady();
      if (isReady !== last) this.launch.ready(isReady);
      last = isReady;
      await this.#clock.sleep(probeEveryMs, signal);
    }
  }

  /** Early when the signal aborts. A process that has ended never wakes up. */
  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await sleep(this.launch.host.clock, ms, signal).catch(() => {});
    if (this.#isEnded) await new Promise<never>(() => {});
  }

  #exit(code: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.server.die();
    this.#around.ended(this);
    this.launch.exited(code);
  }
}
