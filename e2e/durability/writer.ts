import { ConfigMap } from "@setpoint/api";
import { isApiError } from "@setpoint/apimachinery";
import { isOutcomeUnknown, type Client } from "@setpoint/client";
import type { Random } from "@setpoint/host";
import { revisionOf, type Ledger } from "./ledger.ts";

const keysPerWriter = 6;
export const namespace = "default";

/**
 * Creates, updates, patches and deletes its own few keys, one request at a time, and enters every answer in
 * the ledger.
 */
export class Writer {
  readonly #client: Client;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #name: string;
  #count = 0;

  constructor(name: string, client: Client, ledger: Ledger, random: Random) {
    this.#name = name;
    this.#client = client;
    this.#ledger = ledger;
    this.#random = random;
  }

  /** Writes until a request gets no answer; a request that is refused is an error. */
  async untilBroken(): Promise<void> {
    while (await this.#writeOnce());
  }

  async #writeOnce(): Promise<boolean> {
    const key = `${this.#name}-${this.#random.int(keysPerWriter)}`;
    const value = `${this.#name} ${++this.#count}`;
    const isDeletion = this.#ledger.known(key) !== undefined && this.#random.int(4) === 0;
    const since = this.#ledger.highest;
    try {
      const revision = isDeletion ? await this.#delete(key) : await this.#put(key, value);
      this.#ledger.acknowledge(key, revision === undefined ? undefined : { revision, value }, since);
      return true;
    } catch (error) {
      if (isApiError(error)) throw error;
      if (isOutcomeUnknown(error)) this.#ledger.attempted(key, isDeletion ? "deletion" : { value });
      return false;
    }
  }

  async #delete(name: string): Promise<undefined> {
    await this.#client.delete(ConfigMap, { name, namespace });
    return undefined;
  }

  async #put(name: string, value: string): Promise<number> {
    const known = this.#ledger.known(name);
    const object = ConfigMap({ name, namespace, data: { value } });
    if (known === undefined) return revisionOf(await this.#client.create(ConfigMap, object));
    if (this.#random.int(2) === 0)
      return revisionOf(await this.#client.patch(ConfigMap, { name, namespace }, { data: { value } }));
    const metadata = { ...object.metadata, resourceVersion: String(known.revision) };
    return revisionOf(await this.#client.update(ConfigMap, { ...object, metadata }));
  }
}
