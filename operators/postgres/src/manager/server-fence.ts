/** Stops a server that may not accept writes any more, whatever state it is in. */
import { cleanStopMs } from "../instance/instance-protocol.ts";
import type { ManagerClock } from "./manager-clock.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** How long an immediate stop may take. */
const immediateStopMs = 1_000;
/** A server that has answered, and gives no answer for so long, does not stop when it is asked. */
const hangingMs = 5_000;

export interface ServerFenceParts {
  readonly clock: Pick<ManagerClock, "monotonic">;
  readonly server: Pick<PostgresServer, "requestStop" | "kill">;
  readonly complain: (line: string) => void;
}

export class ServerFence {
  readonly #parts: ServerFenceParts;
  /** Since when the server is being stopped, and since when without regard to what it has begun. */
  #sinceMs: number | undefined;
  #endingMs: number | undefined;
  /** When this server has answered last. */
  #answeredMs: number | undefined;

  constructor(parts: ServerFenceParts) {
    this.#parts = parts;
  }

  /** Whether this server has answered since its start. */
  get hasAnswered(): boolean {
    return this.#answeredMs !== undefined;
  }

  serverAnswered(): void {
    this.#answeredMs = this.#parts.clock.monotonic();
  }

  serverEnded(): void {
    this.#sinceMs = undefined;
    this.#endingMs = undefined;
    this.#answeredMs = undefined;
  }

  /** Called until the server has ended. One that was deposed hands the rest of its log over before. */
  stop(why: string, isDeposed: boolean): void {
    const { clock, server, complain } = this.#parts;
    const nowMs = clock.monotonic();
    if (this.#sinceMs === undefined) complain(`The instance manager: ${why}`);
    this.#sinceMs ??= nowMs;
    // Replicas that do not take the rest of the log hold up a fast stop.
    const isLate = nowMs - this.#sinceMs >= cleanStopMs;
    if (isDeposed && !isLate && !this.#isHanging(nowMs)) return server.requestStop("fast");
    this.#endingMs ??= nowMs;
    server.requestStop("immediate");
    if (nowMs - this.#endingMs >= immediateStopMs) server.kill();
  }

  #isHanging(nowMs: number): boolean {
    return this.#answeredMs !== undefined && nowMs - this.#answeredMs >= hangingMs;
  }
}
