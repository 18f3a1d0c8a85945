/** Limits what one user may use of the server at a time: requests, watches, and bytes of bodies. */
import { ApiError, failure, type UserInfo } from "@setpoint/apimachinery";
import { mastersGroup } from "../auth/rbac-authorizer.ts";

/** Requests in flight; upstream's default for all users together is 600. */
export const requestsOfUserMax = 400;
/** Watches and logs that are followed. */
export const streamsOfUserMax = 1_000;
/** Bytes of bodies that are on their way in. */
export const bodyBytesMax: number = 96 * 1024 * 1024;
/** The share of it that one user may take. */
export const bodyBytesOfUserMax: number = 24 * 1024 * 1024;

interface Use {
  requests: number;
  streams: number;
  bodyBytes: number;
}

/**
 * Administrators and the agents of the nodes, whose leases and status show that they are alive, have no
 * limit.
 */
export function isExempt({ username, groups }: UserInfo): boolean {
  return groups.includes(mastersGroup) || (groups.includes("system:nodes") && username.startsWith("system:node:"));
}

export class UserLimits {
  readonly #uses = new Map<string, Use>();
  #bodyBytes = 0;

  /** Counts a request until `leave`. Errors: `ApiError` 429. */
  enter(user: UserInfo, isStream: boolean): Entry {
    const { username } = user;
    const use = this.#uses.get(username) ?? { requests: 0, streams: 0, bodyBytes: 0 };
    const isFull = isStream ? use.streams >= streamsOfUserMax : use.requests >= requestsOfUserMax;
    if (isFull && !isExempt(user)) throw tooManyRequests();
    this.#uses.set(username, use);
    if (isStream) use.streams++;
    else use.requests++;
    return new Entry(this, username, use, isStream, isExempt(user));
  }

  /** Errors: `ApiError` 429 when the user, or all users together, have as many bytes under way as may be. */
  takeBytes(use: Use, bytes: number, isExemptUser: boolean): void {
    const isFull = this.#bodyBytes + bytes > bodyBytesMax;
    if (isFull || (!isExemptUser && use.bodyBytes + bytes > bodyBytesOfUserMax)) throw tooManyRequests();
    this.#bodyBytes += bytes;
    use.bodyBytes += bytes;
  }

  leave(username: string, use: Use, isStream: boolean, bytes: number): void {
    if (isStream) use.streams--;
    else use.requests--;
    use.bodyBytes -= bytes;
    this.#bodyBytes -= bytes;
    if (use.requests === 0 && use.streams === 0) this.#uses.delete(username);
  }
}

/** One request of a user. */
export class Entry {
  readonly #limits: UserLimits;
  readonly #username: string;
  readonly #use: Use;
  readonly #isStream: boolean;
  readonly isExempt: boolean;
  #bytes = 0;
  #isOver = false;

  constructor(limits: UserLimits, username: string, use: Use, isStream: boolean, isExemptUser: boolean) {
    this.#limits = limits;
    this.#username = username;
    this.#use = use;
    this.#isStream = isStream;
    this.isExempt = isExemptUser;
  }

  /** Errors: `ApiError` 429. */
  takeBytes(bytes: number): void {
    this.#limits.takeBytes(this.#use, bytes, this.isExempt);
    this.#bytes += bytes;
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#limits.leave(this.#username, this.#use, this.#isStream, this.#bytes);
  }
}

/** Upstream's message. */
function tooManyRequests(): ApiError {
  const message = "Too many requests, please try again later.";
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds: 1 }));
}
