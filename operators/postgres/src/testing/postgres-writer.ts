/** A client that writes all the time to every server that accepts commits. */
import { type Host, sleep } from "@setpoint/host";
import type { PostgresModel } from "./postgres-model.ts";

const everyMsDefault = 100;

export class PostgresWriter {
  readonly #model: PostgresModel;
  readonly #host: Host;
  readonly #stopper = new AbortController();
  #number = 0;
  #lastMs: number | undefined;
  /** The longest time between two acknowledgements. */
  longestGapMs = 0;

  constructor(model: PostgresModel, host: Host, everyMs = everyMsDefault) {
    this.#model = model;
    this.#host = host;
    void this.#run(everyMs);
  }

  stop(): void {
    this.#stopper.abort(new Error("the writer has been stopped"));
  }

  async #run(everyMs: number): Promise<void> {
    while (!this.#stopper.signal.aborted) {
      // Also one that the Service does not name: a client may be connected to it still.
      for (const server of this.#model.servers) if (server.acceptsCommits) void this.#commit(server);
      await sleep(this.#host.clock, everyMs);
    }
  }

  async #commit(server: PostgresModel["servers"][number]): Promise<void> {
    const id = `write-${++this.#number}`;
    const isAcknowledged = await server.commit(id).then(
      () => true,
      () => false,
    );
    if (!isAcknowledged) return;
    this.#model.ledger.acknowledge(id, server);
    const nowMs = this.#host.clock.monotonic();
    if (this.#lastMs !== undefined) this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
  }
}
