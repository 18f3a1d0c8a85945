/** Clients that append to lists and read them in transactions, and the history of what they saw. */
import { setTimeout as delay } from "node:timers/promises";
import type { Ledger } from "../strike.ts";
import { PostgresSession, type SessionOptions, StatementError } from "./postgres-session.ts";
import type { ListOperation, Transaction } from "./transaction.ts";

/** A short time finds the next primary soon; with a long one a client stays with one that does not answer. */
const timeoutsMs = [1_500, 1_500, 1_500, 30_000] as const;
const pauseMs = 15;
const activeLists = 8;
/** A list is read whole; then another one takes its place. */
const appendsMax = 25;
const operationsMax = 4;
const readMsMax = 30_000;

export type Isolation = "READ COMMITTED" | "REPEATABLE READ" | "SERIALIZABLE";

export interface ClientOptions {
  readonly connect: (this: void, timeoutMs: number) => Promise<SessionOptions>;
  /** Of this history alone: names of its lists begin with it. */
  readonly prefix: string;
  readonly pick: (this: void, below: number) => number;
  readonly isolation?: Isolation;
  /** What each session begins with. */
  readonly setting?: string;
}

export interface AppendHistory {
  readonly transactions: readonly Transaction[];
  readonly acknowledged: number;
  /** Where the log of the server was after the commit of a value, at the latest. */
  readonly positions: ReadonlyMap<number, string>;
}

/** Creates the table; there may be one. */
export async function createLists(options: SessionOptions): Promise<void> {
  using session = await PostgresSession.open(options);
  await session.query("create table if not exists list (name text primary key, appended int[] not null)");
}

export class AppendClients implements AsyncDisposable, Ledger {
  readonly #options: ClientOptions;
  readonly #stopping = new AbortController();
  readonly #loops: readonly Promise<void>[];
  readonly #transactions: Transaction[] = [];
  readonly #positions = new Map<number, string>();
  /** How many appends each list has had. */
  readonly #lists = new Map<string, number>();
  readonly #active: string[] = [];
  #value = 0;
  #acknowledged = 0;
  #lastMs = performance.now();
  #gapMs = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    for (let i = 0; i < activeLists; i++) this.#active.push(this.#newList());
    this.#loops = timeoutsMs.map((timeoutMs) => this.#run(timeoutMs));
  }

  mark(): void {
    this.#gapMs = 0;
    this.#lastMs = performance.now();
  }

  get gapMs(): number {
    return Math.max(this.#gapMs, performance.now() - this.#lastMs);
  }

  /** Appends whose transactions were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Ends the clients, and reads all lists in one transaction. */
  async finish(): Promise<AppendHistory> {
    await this[Symbol.asyncDispose]();
    await this.#readAll();
    return { transactions: this.#transactions, acknowledged: this.#acknowledged, positions: this.#positions };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #run(timeoutMs: number): Promise<void> {
    let session: PostgresSession | undefined;
    while (!this.#stopping.signal.aborted) {
      session ??= await this.#open(timeoutMs).catch(() => undefined);
      if (session !== undefined && !(await this.#transact(session))) {
        session[Symbol.dispose]();
        session = undefined;
      }
      await delay(pauseMs);
    }
    session?.[Symbol.dispose]();
  }

  async #open(timeoutMs: number): Promise<PostgresSession> {
    const { connect, setting, isolation = "SERIALIZABLE" } = this.#options;
    const session = await PostgresSession.open(await connect(timeoutMs));
    await session.query(`set default_transaction_isolation = '${isolation}'; ${setting ?? ""}`);
    return session;
  }

  /** Whether the session can go on. */
  async #transact(session: PostgresSession): Promise<boolean> {
    const startMs = performance.now();
    const operations: ListOperation[] = [];
    let isCommitting = false;
    const record = (outcome: Transaction["outcome"]): void =>
      void this.#transactions.push({ operations, outcome, startMs, endMs: performance.now() });
    try {
      await session.query("begin");
      for (let left = 1 + this.#pick(operationsMax); left > 0; left--) await this.#operate(session, operations);
      isCommitting = true;
      const { tags, rows } = await session.query("commit; select pg_current_wal_insert_lsn()");
      const isCommitted = tags[0] === "COMMIT";
      record(isCommitted ? "Committed" : "Aborted");
      if (isCommitted) this.#acknowledge(operations, rows[0]?.[0]);
      return true;
    } catch (error) {
      const isRefused = error instanceof StatementError;
      // A refused commit did not happen; a server that ends says so in the same way.
      record(isCommitting && !(isRefused && error.code.startsWith("40")) ? "Unknown" : "Aborted");
      return (
        isRefused &&
        session.query("rollback").then(
          () => true,
          () => false,
        )
      );
    }
  }

  async #operate(session: PostgresSession, operations: ListOperation[]): Promise<void> {
    const place = this.#pick(activeLists);
    const key = this.#active[place] ?? "";
    if (this.#pick(2) === 0) {
      const { rows } = await session.query(`select appended from list where name = '${key}'`);
      operations.push({ kind: "read", key, values: valuesOf(rows[0]?.[0]) });
      return;
    }
    const value = ++this.#value;
    this.#count(place, key);
    operations.push({ kind: "append", key, value });
    await session.query(
      `insert into list values ('${key}', array[${value}]) on conflict (name) do update set appended = list.appended || ${value}`,
    );
  }

  #count(place: number, key: string): void {
    const count = (this.#lists.get(key) ?? 0) + 1;
    this.#lists.set(key, count);
    if (count >= appendsMax && this.#active[place] === key) this.#active[place] = this.#newList();
  }

  #newList(): string {
    const key = `${this.#options.prefix}${this.#lists.size}`;
    this.#lists.set(key, 0);
    return key;
  }

  #acknowledge(operations: readonly ListOperation[], position: string | undefined): void {
    const nowMs = performance.now();
    this.#gapMs = Math.max(this.#gapMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    for (const each of operations) {
      if (each.kind !== "append") continue;
      this.#acknowledged++;
      if (position !== undefined) this.#positions.set(each.value, position);
    }
  }

  /** Tried again for a while: a server may just end its sessions. */
  async #readAll(): Promise<void> {
    for (const endMs = performance.now() + readMsMax; ; await delay(500)) {
      const startMs = performance.now();
      try {
        const lists = await this.#read();
        const operations = [...this.#lists.keys()].map(
          (key) => ({ kind: "read", key, values: lists.get(key) ?? [] }) as const,
        );
        this.#transactions.push({ operations, outcome: "Committed", startMs, endMs: performance.now() });
        return;
      } catch (error) {
        if (performance.now() > endMs) throw error;
      }
    }
  }

  async #read(): Promise<ReadonlyMap<string, readonly number[]>> {
    const { connect, prefix } = this.#options;
    using session = await PostgresSession.open(await connect(10_000));
    const { rows } = await session.query(`select name, appended from list where starts_with(name, '${prefix}')`);
    return new Map(rows.map(([name = "", values]) => [name, valuesOf(values)]));
  }

  #pick(below: number): number {
    return this.#options.pick(below);
  }
}

/** `{1,2}`. */
function valuesOf(text: string | undefined): readonly number[] {
  const inner = text?.slice(1, -1) ?? "";
  return inner === "" ? [] : inner.split(",").map(Number);
}
