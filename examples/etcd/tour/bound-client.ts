/**
 * An application that logs in with the Secret of its ServiceBinding, and reads the Secret again when its
 * token ends.
 */
import { etcdClient, type EtcdClient, type EtcdEndpoint, isTokenOver } from "./etcd-client.ts";

type ReadSecret = () => Promise<Readonly<Record<string, string>>>;

const timeoutMs = 5_000;

export class BoundClient {
  readonly #endpoint: EtcdEndpoint;
  readonly #readSecret: ReadSecret;
  #client: EtcdClient | undefined;

  constructor(endpoint: EtcdEndpoint, readSecret: ReadSecret) {
    this.#endpoint = endpoint;
    this.#readSecret = readSecret;
  }

  put(key: string, value: string): Promise<void> {
    return this.#use((client) => client.put(key, value));
  }

  get(key: string): Promise<string | undefined> {
    return this.#use((client) => client.get(key));
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  async #use<T>(call: (client: EtcdClient) => Promise<T>): Promise<T> {
    try {
      return await call(await this.#open());
    } catch (error) {
      if (!isTokenOver(error)) throw error;
      this.close();
      return call(await this.#open());
    }
  }

  async #open(): Promise<EtcdClient> {
    if (this.#client !== undefined) return this.#client;
    const { username = "", password = "" } = await this.#readSecret();
    const client = etcdClient(this.#endpoint, timeoutMs);
    try {
      await client.logIn(username, password);
    } catch (error) {
      client.close();
      throw error;
    }
    this.#client = client;
    return client;
  }
}
