/** What an instance manager asks its server in SQL, in the model. */
import type { InstanceManagerParts } from "../manager/manager-parts.ts";
import type { ManagerClock } from "../manager/manager-clock.ts";
import type { ServerFacts } from "../manager/sql.ts";
import type { SimulatedServer } from "./simulated-server.ts";

/** As the manager's own: probes, reports and steps that come together ask once. */
const freshMs = 300;

export class SimulatedSql implements Pick<InstanceManagerParts["sql"], keyof InstanceManagerParts["sql"]> {
  readonly #server: SimulatedServer;
  readonly #clock: ManagerClock;
  readonly #take: (minMs: number, maxMs: number) => Promise<void>;
  #asked: { readonly atMs: number; readonly facts: Promise<ServerFacts | undefined> } | undefined;

  constructor(server: SimulatedServer, clock: ManagerClock, take: (minMs: number, maxMs: number) => Promise<void>) {
    this.#server = server;
    this.#clock = clock;
    this.#take = take;
  }

  facts(): Promise<ServerFacts | undefined> {
    const nowMs = this.#clock.monotonic();
    if (this.#asked === undefined || nowMs - this.#asked.atMs > freshMs)
      this.#asked = { atMs: nowMs, facts: this.#ask() };
    return this.#asked.facts;
  }

  forget(): void {
    this.#asked = undefined;
  }

  async run(statement: string): Promise<string> {
    if (statement.includes("pg_promote")) await this.#server.promote();
    else if (statement === "checkpoint") await this.#checkpoint();
    else throw new Error(`the model knows no statement "${statement}"`);
    return "";
  }

  async #ask(): Promise<ServerFacts | undefined> {
    const facts = this.#server.facts();
    await this.#take(1, 10);
    return facts;
  }

  async #checkpoint(): Promise<void> {
    await this.#take(10, 200);
    this.#server.checkpoint();
  }
}
