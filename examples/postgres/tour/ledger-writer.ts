/** Starts the pod of the ledger, asks it, and compares at the end. */
import { podLogLines } from "@setpoint/client";
import { Pod } from "setpoint/kinds";
import { type Acknowledgement, acknowledgements, ledgerPodName, ledgerPodSpec, longestPause } from "./ledger-pod.ts";
import type { PostgresUnderTour } from "./postgres-under-tour.ts";

/** What became of the writes. */
export interface LedgerReport {
  readonly acknowledged: number;
  /** Acknowledged numbers that are not in the table. */
  readonly lost: readonly number[];
  readonly longestPauseSeconds: number;
}

export class LedgerWriter {
  readonly #cluster: PostgresUnderTour;
  readonly #pod: string;
  #seen = 0;

  constructor(cluster: PostgresUnderTour) {
    this.#cluster = cluster;
    this.#pod = ledgerPodName(cluster.name);
  }

  /** Resolves when the first number is written, through the Service and with the login of the Secret. */
  async start(): Promise<void> {
    const { client, name, namespace } = this.#cluster;
    const { spec } = await this.#cluster.get();
    const pod = ledgerPodSpec(name, spec.version);
    await client.create(Pod, Pod({ name: this.#pod, namespace, spec: pod }));
    await this.#cluster.until("the first write", async () => (await this.#log()).at(0));
  }

  /** From here on `pauseSeconds` counts. */
  async mark(): Promise<void> {
    this.#seen = (await this.#log()).length;
  }

  /** The longest time between two acknowledged writes since `mark`, once writes go on. */
  async pauseSeconds(): Promise<number> {
    const before = (await this.#log()).length;
    await this.#cluster.until("a write", async () => ((await this.#log()).length > before ? true : undefined));
    return longestPause((await this.#log()).slice(Math.max(0, this.#seen - 1)));
  }

  /** One statement as the application, through the Service of the primary. */
  sql(statement: string): Promise<string> {
    return this.#shell(`psql "$URI&connect_timeout=5" -v ON_ERROR_STOP=1 -Atqc "${statement}"`);
  }

  /** One statement with another address. */
  sqlWith(uri: string, statement: string): Promise<string> {
    return this.#cluster.inPod(this.#pod, ["psql", `${uri}&connect_timeout=5`, "-Atqc", statement]);
  }

  /** Stops the writing and compares. */
  async finish(): Promise<LedgerReport> {
    await this.#shell("touch /tmp/stop");
    const writes = await this.#log();
    const present = new Set((await this.sql("select n from ledger")).split("\n").map(Number));
    const lost = writes.map(({ n }) => n).filter((n) => !present.has(n));
    return { acknowledged: writes.length, lost, longestPauseSeconds: longestPause(writes) };
  }

  #shell(command: string): Promise<string> {
    return this.#cluster.inPod(this.#pod, ["sh", "-c", command]);
  }

  async #log(): Promise<readonly Acknowledgement[]> {
    const { client, namespace } = this.#cluster;
    const lines = await Array.fromAsync(podLogLines(client, { name: this.#pod, namespace }));
    return acknowledgements(lines.join("\n"));
  }
}
