/**
 * The tokens that members gave for logins. A member forgets them when it restarts, and after five minutes
 * without use.
 */
import type { EtcdLogin } from "./etcd-gateway.ts";

/** Enough for the members of all clusters of an operator; without its token a login is made again. */
const tokensMax = 5_000;

export class Tokens {
  /** By member and login, the oldest first. */
  readonly #tokens = new Map<string, string>();

  get(endpoint: string, login: EtcdLogin): string | undefined {
    return this.#tokens.get(keyOf(endpoint, login));
  }

  set(endpoint: string, login: EtcdLogin, token: string): void {
    const key = keyOf(endpoint, login);
    this.#tokens.delete(key);
    this.#tokens.set(key, token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > tokensMax && oldest !== undefined) this.#tokens.delete(oldest);
  }
}

/** Addresses of pods are used again, by members of other clusters with other logins. */
function keyOf(endpoint: string, { name, password }: EtcdLogin): string {
  return JSON.stringify([endpoint, name, password]);
}
