/**
 * Writes one key after the other and keeps a ledger of what was acknowledged, to prove afterwards that
 * nothing was lost.
 */
import { sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { etcdClient, type EtcdClient, type EtcdEndpoint, isTokenOver } from "./etcd-client.ts";

/** Between two writes; slow enough to leave the machine to etcd. */
const pauseMs = 10;
/** How long the read at the end may take, with all attempts, and the pause between two. */
const readMsMax = 30_000;
const retryMs = 500;

export interface LedgerReport {
  readonly acknowledged: number;
  readonly errors: number;
  readonly lost: readonly string[];
  readonly longestGapMs: number;
}

export interface Login {
  readonly name: string;
  readonly password: string;
}

export class LedgerWriter implements AsyncDisposable {
  readonly #endpoint: EtcdEndpoint;
  readonly #prefix: string;
  readonly #login: Login | undefined;
  readonly #acknowledged: string[] = [];
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;
  #errors = 0;
  #lastMs = systemClock.monotonic();
  #gapMs = 0;
  #gapSinceMarkMs = 0;

  /**
   * `endpoint` is the client Service's address: the writer knows nothing of members. Keys begin with
   * `prefix`. A cluster that asks for logins needs one that may write below it.
   */
  constructor(endpoint: EtcdEndpoint, prefix = "ledger/", login?: Login) {
    this.#endpoint = endpoint;
    this.#prefix = prefix;
    this.#login = login;
    this.#loop = this.#run();
  }

  /** Forgets the longest gap so far; `gapMs` then tells the longest one since. */
  mark(): void {
    this.#gapSinceMarkMs = 0;
  }

  get gapMs(): number {
    return Math.max(this.#gapSinceMarkMs, systemClock.monotonic() - this.#lastMs);
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Stops writing and compares the ledger with what the cluster has. */
  async finish(): Promise<LedgerReport> {
    await this[Symbol.asyncDispose]();
    const present = await this.#present();
    const lost = this.#acknowledged.filter((key) => !present.has(key));
    return {
      acknowledged: this.#acknowledged.length,
      errors: this.#errors,
      lost,
      longestGapMs: Math.round(this.#gapMs),
    };
  }

  /** An election that is under way fails a read, so it is tried again for a while. */
  async #present(): Promise<ReadonlySet<string>> {
    for (const untilMs = systemClock.monotonic() + readMsMax; ; await sleep(systemClock, retryMs)) {
      const client = etcdClient(this.#endpoint, 10_000);
      try {
        await this.#logIn(client);
        return await client.keys(this.#prefix);
      } catch (error) {
        if (systemClock.monotonic() > untilMs) throw error;
      } finally {
        client.close();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    let client = etcdClient(this.#endpoint);
    let token: string | undefined;
    for (let i = 0; !this.#stopping.signal.aborted; i++) {
      const key = `${this.#prefix}${String(i).padStart(8, "0")}`;
      try {
        token ??= await this.#logIn(client);
        await client.put(key, `value ${i}`);
        this.#acknowledge(key);
      } catch (error) {
        // The write may have happened or not; only acknowledged ones count. A new connection may reach
        // another member, which knows the token too.
        this.#errors++;
        client.close();
        if (isTokenOver(error)) token = undefined;
        client = etcdClient(this.#endpoint, undefined, token);
      }
      await sleep(systemClock, pauseMs);
    }
    client.close();
  }

  /** Resolves with the token; undefined for a cluster that asks for no login. */
  async #logIn(client: EtcdClient): Promise<string | undefined> {
    return this.#login === undefined ? undefined : client.logIn(this.#login.name, this.#login.password);
  }

  #acknowledge(key: string): void {
    const nowMs = systemClock.monotonic();
    const gapMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#gapMs = Math.max(this.#gapMs, gapMs);
    this.#gapSinceMarkMs = Math.max(this.#gapSinceMarkMs, gapMs);
    this.#acknowledged.push(key);
  }
}
