/** Clients that write and read the same few keys all the time, and the history of what they saw. */
import { setTimeout as delay } from "node:timers/promises";
import { type EtcdClient, type EtcdEndpoint, etcdClient } from "../../../examples/etcd/tour/etcd-client.ts";
import { isLinearizable } from "./linearizability.ts";
import type { Operation } from "./operation.ts";

const clients = 3;
/** After this many operations a key is checked and another one is used: the check must stay fast. */
const operationsMax = 120;
const pauseMs = 30;
const timeoutMs = 2_500;

export interface RegisterReport {
  readonly operations: number;
  readonly keys: number;
  /** A sentence for each key whose history is not linearizable. */
  readonly violations: readonly string[];
}

/** Three clients on one key at a time, all through the same endpoint. */
export class RegisterClients implements AsyncDisposable {
  readonly #connect: () => Promise<EtcdClient>;
  readonly #prefix: string;
  readonly #stopping = new AbortController();
  readonly #loops: readonly Promise<void>[];
  readonly #violations: string[] = [];
  readonly #judging: Promise<void>[] = [];
  #history: Operation[] = [];
  #key = 0;
  #value = 0;
  #operations = 0;

  /** `connect` opens a connection; `prefix` must be of this run alone. */
  constructor(connect: () => Promise<EtcdClient>, prefix: string) {
    this.#connect = connect;
    this.#prefix = prefix;
    this.#loops = Array.from({ length: clients }, (_, i) => this.#run(i));
  }

  /** Ends the clients and checks the last key. */
  async finish(): Promise<RegisterReport> {
    await this[Symbol.asyncDispose]();
    this.#check();
    await Promise.all(this.#judging);
    return { operations: this.#operations, keys: this.#key, violations: this.#violations };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #run(number: number): Promise<void> {
    let client: EtcdClient | undefined;
    for (let i = number; !this.#stopping.signal.aborted; i++) {
      client ??= await this.#connect().catch(() => undefined);
      if (client !== undefined && !(await this.#operate(client, i % 2 === 0))) {
        client.close();
        client = undefined;
      }
      await delay(pauseMs);
    }
    client?.close();
  }

  /** Whether the answer came. */
  async #operate(client: EtcdClient, isWrite: boolean): Promise<boolean> {
    const history = this.#history;
    const key = `${this.#prefix}${this.#key}`;
    const value = isWrite ? `v${this.#value++}` : undefined;
    const startMs = performance.now();
    try {
      const read = value === undefined ? await client.get(key) : void (await client.put(key, value));
      history.push({ kind: isWrite ? "write" : "read", key, value: value ?? read, startMs, endMs: performance.now() });
      return true;
    } catch {
      history.push({ kind: isWrite ? "write" : "read", key, value, startMs, endMs: undefined });
      return false;
    } finally {
      this.#operations++;
      if (history === this.#history && history.length >= operationsMax) this.#check();
    }
  }

  /** An operation that is still under way belongs to the key before: its outcome is unknown there. */
  #check(): void {
    const history = this.#history;
    this.#history = [];
    this.#key++;
    // Those under way add themselves to the old array within the timeout; only then is it complete.
    const judge = (): void => {
      if (isLinearizable(history)) return;
      this.#violations.push(`${history[0]?.key}: ${JSON.stringify(history)}`);
    };
    this.#judging.push(delay(this.#stopping.signal.aborted ? 0 : timeoutMs + 500).then(judge));
  }
}

/** A client with a short deadline, for `RegisterClients`. */
export function registerClient(endpoint: EtcdEndpoint): EtcdClient {
  return etcdClient(endpoint, timeoutMs);
}
