/** The data directory of an instance of the model: creates, copies and rewinds, by PostgreSQL's rules. */
import type { ControlFile, DataDirectory } from "../manager/data-directory.ts";
import type { ServerIdentity } from "../manager/configuration-files.ts";
import { canonicalText, type ServerSettings } from "../instance/instance-protocol.ts";
import { forkOf, InstanceData, positionText } from "./instance-data.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";
import type { PostgresNetwork, SimulatedServer } from "./simulated-server.ts";

export interface FilesSurroundings {
  readonly name: string;
  readonly disk: SimulatedDisk;
  readonly network: PostgresNetwork;
  readonly nextSystemId: () => string;
  readonly rejoined: (name: string, how: Rejoining) => void;
  /** Takes a while, between these bounds; never ends when the process does. */
  readonly take: (minMs: number, maxMs: number) => Promise<void>;
}

/** How data came to agree with those of a primary. */
export type Rejoining = "copied" | "rewound";

export class SimulatedFiles implements Pick<DataDirectory, keyof DataDirectory> {
  readonly #around: FilesSurroundings;

  constructor(around: FilesSurroundings) {
    this.#around = around;
  }

  get exists(): boolean {
    return this.#around.disk.data !== undefined;
  }

  get isStandby(): boolean {
    return this.#around.disk.data?.isStandby ?? false;
  }

  /** The model restores nothing from an archive. */
  get isRecovering(): boolean {
    return false;
  }

  forgetArchived(): void {}
  forgetRecovery(): void {}
  replayToEnd(): void {}
  archiveAgain(): void {}

  becomeStandby(): void {
    this.#data.isStandby = true;
  }

  async isReachable(host: string): Promise<boolean> {
    await this.#around.take(5, 50);
    return this.#reach(host)?.isAnswering === true;
  }

  async create(): Promise<void> {
    await this.#around.take(200, 800);
    await this.build(async () => {});
  }

  /** The model has no other servers: what is built is new. */
  async build(fill: (folder: string) => Promise<void>): Promise<void> {
    await fill("");
    this.#around.disk.data = new InstanceData(this.#around.nextSystemId());
  }

  async clone(host: string): Promise<void> {
    this.#sender(host, "pg_basebackup");
    await this.#around.take(300, 2_000);
    // It reads until its end, and needs the log up to there.
    const { data } = this.#sender(host, "pg_basebackup");
    const copy = new InstanceData(data.systemId, data);
    copy.isStandby = true;
    copy.consistentAt = data.end;
    this.#around.disk.data = copy;
    this.#around.rejoined(this.#around.name, "copied");
  }

  /**
   * As pg_rewind of PostgreSQL 15: it compares the timelines of the control files, and finds nothing to do
   * when they are equal, whatever the logs say.
   */
  async rewind(host: string): Promise<string | undefined> {
    const found = this.#reach(host);
    if (found?.isAnswering !== true) return refusedText("pg_rewind", host);
    if (found.data.systemId !== this.#data.systemId)
      return "pg_rewind ended with 1: source and target clusters are from different systems";
    await this.#around.take(50, 500);
    const sender = this.#reach(host);
    if (sender?.isAnswering !== true) return refusedText("pg_rewind", host);
    const source = sender.data;
    const target = this.#data;
    if (source.checkpoint.timeline !== target.checkpoint.timeline) {
      const fork = forkOf(source, target);
      if (fork === undefined)
        return "pg_rewind ended with 1: could not find common ancestor of the source and target timelines";
      if (fork < target.end) target.rewindTo(fork, source);
      this.#around.rejoined(this.#around.name, "rewound");
    }
    this.becomeStandby();
    return undefined;
  }

  configure(settings: ServerSettings, identity: ServerIdentity): boolean {
    const wanted = { settings, name: identity.name, follows: identity.follows };
    if (canonicalText(this.#data.configuration ?? {}) === canonicalText(wanted)) return false;
    this.#data.configuration = wanted;
    return true;
  }

  async whileConfigured<T>(_: ServerSettings, __: ServerIdentity, ask: () => Promise<T>): Promise<T> {
    return ask();
  }

  async control(): Promise<ControlFile | undefined> {
    const { systemId, checkpoint, limits } = this.#data;
    return { systemId, timeline: checkpoint.timeline, position: positionText(checkpoint.position), limits };
  }

  get #data(): InstanceData {
    const { data } = this.#around.disk;
    if (data === undefined) throw new Error(`the volume of ${this.#around.name} has no data`);
    return data;
  }

  #reach(host: string): SimulatedServer | undefined {
    return this.#around.network.serverAt(this.#around.name, host);
  }

  #sender(host: string, program: string): SimulatedServer {
    const server = this.#reach(host);
    if (server?.isAnswering === true) return server;
    throw new Error(refusedText(program, host));
  }
}

function refusedText(program: string, host: string): string {
  return `${program} ended with 1: connection to server at "${host}" failed: Connection refused`;
}
