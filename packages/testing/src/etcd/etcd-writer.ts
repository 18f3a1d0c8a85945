/** A client that writes all the time and remembers what was acknowledged. */
import { type Host, sleep } from "@setpoint/host";
import type { EtcdModel } from "./etcd-model.ts";

/** What a client that writes all the time got acknowledged, and what was lost. */
export interface WriterReport {
  readonly acknowledged: number;
  readonly failed: number;
  /** The longest time between two acknowledgements. */
  readonly longestGapMs: number;
  /** Keys that were acknowledged and are not there. */
  readonly lost: readonly string[];
}

const periodMs = 100;

/** Writes to whichever member of a cluster answers. */
export class EtcdWriter {
  readonly #model: EtcdModel;
  readonly #host: Host;
  readonly #cluster: string;
  readonly #acknowledged = new Map<string, string>();
  readonly #stopper = new AbortController();
  #failed = 0;
  #lastMs: number | undefined;
  #longestGapMs = 0;

  constructor(options: { readonly model: EtcdModel; readonly host: Host; readonly cluster: string }) {
    this.#model = options.model;
    this.#host = options.host;
    this.#cluster = options.cluster;
    void this.#run();
  }

  /** No more writes. */
  stop(): void {
    this.#stopper.abort(new Error("the writer has been stopped"));
  }

  /** Looks for everything that was acknowledged. */
  async check(): Promise<WriterReport> {
    const keys = await this.#model.keys(this.#endpoint());
    const lost = [...this.#acknowledged].filter(([key, value]) => keys.get(key) !== value).map(([key]) => key);
    return { acknowledged: this.#acknowledged.size, failed: this.#failed, longestGapMs: this.#longestGapMs, lost };
  }

  async #run(): Promise<void> {
    for (let number = 0; !this.#stopper.signal.aborted; number++) {
      await this.#put(`key-${number}`, `value-${number}`);
      await sleep(this.#host.clock, periodMs);
    }
  }

  async #put(key: string, value: string): Promise<void> {
    try {
      await this.#model.put(this.#endpoint(), key, value);
    } catch {
      this.#failed++;
      return;
    }
    const now = this.#host.clock.monotonic();
    if (this.#lastMs !== undefined) this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastMs);
    this.#lastMs = now;
    this.#acknowledged.set(key, value);
  }

  #endpoint(): string {
    const serving = this.#model.members(this.#cluster).filter((member) => member.isServing);
    const member = serving[this.#host.random.int(Math.max(serving.length, 1))];
    if (member === undefined) throw new Error(`no member of "${this.#cluster}" serves`);
    return `http://${member.launch.podIp}:2379`;
  }
}
