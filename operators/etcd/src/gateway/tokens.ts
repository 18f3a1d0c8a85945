/**
 * The tokens that members gave for logins. A member forgets them when it restarts, and after five minutes
 * without use.
 */
import { BoundedMap } from "@setpoint/data-service";
import type { EtcdLogin } from "./etcd-gateway.ts";

/** Enough for the members of all clusters of an operator; without its token a login is made again. */
const tokensMax = 5_000;

export class Tokens {
  /** By member and login. */
  readonly #tokens = new BoundedMap<string, string>(tokensMax);

  get(endpoint: string, login: EtcdLogin): string | undefined {
    return this.#tokens.get(keyOf(endpoint, login));
  }

  set(endpoint: string, login: EtcdLogin, token: string): void {
    this.#tokens.set(keyOf(endpoint, login), token);
  }
}

/** Addresses of pods are used again, by members of other clusters with other logins. */
function keyOf(endpoint: string, { name, password }: EtcdLogin): string {
  return JSON.stringify([endpoint, name, password]);
}
