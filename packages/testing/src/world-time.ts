import type { SimulatedHost } from "@setpoint/host/simulated";
import { type StallWatch, stallWatch } from "./stall-watch.ts";
import { lineOf, type Trace } from "./trace.ts";
import { WorldGuard } from "./world-guard.ts";
import type { WaitOptions } from "./world.ts";

/** How long a call waits, unless it says otherwise. */
export const withinDefaultMs = 120_000;
/** Lines of the trace in an error. */
export const linesMax = 12;

/**
 * The time of one world. Code that runs while it advances has no real time, chance or network and may not run
 * for ever.
 */
export class WorldTime {
  readonly #host: SimulatedHost;
  readonly #trace: Trace;
  readonly #guard = new WorldGuard();
  readonly #stalls: StallWatch;
  #hasEnded = false;

  /** `stallMsMax`: how long one step may take, in milliseconds of real time. */
  constructor(host: SimulatedHost, trace: Trace, stallMsMax: number) {
    this.#host = host;
    this.#trace = trace;
    this.#stalls = stallWatch(stallMsMax);
  }

  get nowMs(): number {
    return this.#host.clock.monotonic();
  }

  /** Runs a function as a part of the world, with all that it starts. */
  enter<T>(run: () => T): T {
    return this.#guard.enter(run);
  }

  /** As `VirtualClock.run`. */
  async advance(limitMs: number, done: () => boolean = () => false): Promise<boolean> {
    if (this.#hasEnded) throw new Error("Cannot let time pass in a world that has ended");
    const isOver = (): boolean => {
      this.#stalls.step();
      return this.#hasEnded || this.#guard.violations.length > 0 || done();
    };
    return this.#stalls.watched(() => this.enter(() => this.#host.clock.run(limitMs, isOver)));
  }

  /** Advances until a promise settles, and settles as it does. */
  async wait<T>(promise: Promise<T>, { within = withinDefaultMs }: WaitOptions = {}): Promise<T> {
    let isDone = false;
    const watched = promise.finally(() => (isDone = true));
    // Its rejection goes to the caller as soon as time has passed.
    watched.catch(() => {});
    const isInTime = await this.advance(within, () => isDone);
    this.assertGuarded();
    if (!isInTime) throw this.error(`A promise is still pending after ${seconds(within)} of virtual time`);
    return watched;
  }

  /** Throws when code of the world has used real time, chance or network. */
  assertGuarded(): void {
    const [violation] = this.#guard.violations;
    if (violation !== undefined) throw new Error(violation);
  }

  /** An error that shows what was written last. */
  error(message: string): Error {
    const writes = this.#trace.entries.filter(({ kind }) => kind === "write");
    return new Error(`${message}\nthe last writes:\n${writes.slice(-linesMax).map(lineOf).join("\n")}`);
  }

  /** Time stands still for good. */
  end(): void {
    this.#hasEnded = true;
  }
}

export function seconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
