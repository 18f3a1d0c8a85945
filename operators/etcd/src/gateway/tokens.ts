/**
 * The tokens that members gave for logins. A member forgets them when it restarts, and after five minutes
 * without use.
 */
import { BoundedMap } from "@setpoint/data-service";
import type { EtcdLogin } from "./etcd-gateway.ts";

/** Enough for the members of all clusters of an operator; without its token a login is made again. */
const tokensMax = 5_000;
/** All members of the largest cluster, and some that were replaced. */
const placesMax = 10;

export class Tokens {
  /** By member and login. */
  readonly #tokens = new BoundedMap<string, string>(tokensMax);
  /** By login: the members that gave a token for it, the latest first. */
  readonly #places = new BoundedMap<string, readonly string[]>(tokensMax);

  get(endpoint: string, login: EtcdLogin): string | undefined {
    return this.#tokens.get(keyOf(endpoint, login));
  }

  set(endpoint: string, login: EtcdLogin, token: string): void {
    this.#tokens.set(keyOf(endpoint, login), token);
  }

  /** The member gave a token for this login, whose password is that of one cluster. */
  accepted(endpoint: string, login: EtcdLogin): void {
    const places = this.placesOf(login);
    if (places[0] === endpoint) return;
    const others = places.filter((place) => place !== endpoint);
    this.#places.set(loginKey(login), [endpoint, ...others].slice(0, placesMax));
  }

  /** The members that gave a token for this login, the latest first; some may have ended. */
  placesOf(login: EtcdLogin): readonly string[] {
    return this.#places.get(loginKey(login)) ?? [];
  }
}

/** Addresses of pods are used again, by members of other clusters with other logins. */
function keyOf(endpoint: string, { name, password }: EtcdLogin): string {
  return JSON.stringify([endpoint, name, password]);
}

function loginKey({ name, password }: EtcdLogin): string {
  return JSON.stringify([name, password]);
}
