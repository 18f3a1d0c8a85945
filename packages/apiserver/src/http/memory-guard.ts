/**
 * Rejects requests that need memory with a 429 while the heap is nearly full, so that the process survives.
 */
import { getHeapStatistics } from "node:v8";
import { ApiError, type ApiRequest, type ApiResponse, failure, type UserInfo } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { type HeapUse, isNearlyFull } from "./heap-use.ts";
import type { RequestHandler } from "./request-handler.ts";

/** The heap is measured this often at most. */
const measurePeriodMs = 100;
const retryAfterSeconds = 1;

/**
 * A handler in front of another one. Deletions, leases and health checks are always let through: they free,
 * or they are small.
 */
export class MemoryGuard implements RequestHandler {
  readonly #handler: RequestHandler;
  readonly #clock: Clock;
  readonly #measure: () => HeapUse;
  #measuredMs = -Infinity;
  #isNearlyFull = false;

  constructor(handler: RequestHandler, clock: Clock, measure: () => HeapUse = getHeapStatistics) {
    this.#handler = handler;
    this.#clock = clock;
    this.#measure = measure;
  }

  admit(request: ApiRequest, user: UserInfo): void {
    this.#handler.admit(request, user);
  }

  handle(request: ApiRequest, user: UserInfo, signal: AbortSignal): Promise<ApiResponse> {
    if (costsMemory(request) && this.#isShort()) return Promise.reject(shortOfMemory());
    return this.#handler.handle(request, user, signal);
  }

  #isShort(): boolean {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#measuredMs < measurePeriodMs) return this.#isNearlyFull;
    this.#measuredMs = nowMs;
    this.#isNearlyFull = isNearlyFull(this.#measure());
    return this.#isNearlyFull;
  }
}

function costsMemory({ method, path }: ApiRequest): boolean {
  if (method === "DELETE") return false;
  return path.startsWith("/api") && !path.startsWith("/apis/coordination.k8s.io/");
}

function shortOfMemory(): ApiError {
  const message = "Too many requests, the server is short of memory: please try again later";
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds }));
}
