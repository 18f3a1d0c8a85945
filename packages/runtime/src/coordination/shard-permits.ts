/**
 * Which keys a member may run, and its runs. Runs of lost keys may end; when they have, the member releases
 * the keys.
 */
import { SetpointError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { errNotOwner } from "../errors.ts";
import type { KeyOwnership, RunPermit } from "./key-ownership.ts";
import type { RunTransport } from "../run/run-transport.ts";
import { slotCount, slotOf } from "./slots.ts";

export interface ShardPermitsOptions {
  readonly clock: Clock;
  /** How long a run may go on whose key has become another's; then it is aborted. */
  readonly drainMsMax: number;
  /** How long a write that was given up may still be on its way. */
  readonly marginMs: number;
  /** What of a key decides about its owner. */
  shardBy(key: string): string;
}

/** One run of a sharded manager. */
class ShardRun implements RunPermit {
  readonly slot: number;
  readonly #options: ShardPermitsOptions;
  readonly #onEnded: (run: ShardRun) => void;
  readonly #stopper = new AbortController();
  readonly #signal: AbortSignal;
  readonly #abort = (): void => this.#stopper.abort(this.#signal.reason);
  #way: RunTransport | undefined;
  #isEnded = false;
  /** Since when its key is another's. */
  lostMs: number | undefined;
  /** Until when a write of it may still arrive. */
  #afterwardsMs = Number.NEGATIVE_INFINITY;

  constructor(slot: number, signal: AbortSignal, options: ShardPermitsOptions, onEnded: (run: ShardRun) => void) {
    this.slot = slot;
    this.#options = options;
    this.#onEnded = onEnded;
    this.#signal = signal;
    if (signal.aborted) this.#abort();
    signal.addEventListener("abort", this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#stopper.signal;
  }

  follow(way: RunTransport): void {
    this.#way = way;
  }

  assertMayWrite(): void {
    // Whether this process may write at all, the manager has asked.
    if (!this.#isEnded && !this.signal.aborted) return;
    const why = this.#isEnded ? "the run has ended" : "the key belongs to another member now";
    throw new SetpointError(errNotOwner, `Cannot write: ${why}`);
  }

  ended(): void {
    this.#isEnded = true;
    this.#signal.removeEventListener("abort", this.#abort);
    this.#noteWrites();
    this.#onEnded(this);
  }

  revoke(): void {
    if (this.signal.aborted) return;
    this.#noteWrites();
    this.#stopper.abort(new SetpointError(errNotOwner, "the key belongs to another member now"));
  }

  /** Whether nothing of it can reach the server any more. */
  isHarmless(nowMs: number): boolean {
    const unansweredMs = this.#way?.unansweredMs ?? Number.NEGATIVE_INFINITY;
    const afterwardsMs = Math.max(this.#afterwardsMs, unansweredMs + this.#options.marginMs);
    return (this.#isEnded || this.signal.aborted) && nowMs >= afterwardsMs;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  #noteWrites(): void {
    const { clock, marginMs } = this.#options;
    if ((this.#way?.writesOnTheirWay ?? 0) > 0) this.#afterwardsMs = clock.monotonic() + marginMs;
  }
}

export class ShardPermits {
  readonly #options: ShardPermitsOptions;
  readonly #runs = new Set<ShardRun>();
  #runnable = new Uint8Array(slotCount);

  constructor(options: ShardPermitsOptions) {
    this.#options = options;
  }

  /** The slot of a key of a cluster. */
  slotOf(cluster: string | undefined, key: string): number {
    const by = this.#options.shardBy(key);
    return slotOf(cluster === undefined ? by : `${cluster}/${by}`);
  }

  /** The keys of one cluster; its runs are aborted by `signal` too. */
  ownership(cluster: string | undefined, signal: AbortSignal): KeyOwnership {
    return {
      mayRun: (key) => this.#runnable[this.slotOf(cluster, key)] === 1,
      begin: (key) => this.#begin(this.slotOf(cluster, key), signal),
    };
  }

  /**
   * Takes what may run from now on; returns which slots may run now and could not, or the other way round.
   */
  update(runnable: Uint8Array): ReadonlySet<number> {
    const nowMs = this.#options.clock.monotonic();
    const changed = new Set<number>();
    for (let slot = 0; slot < slotCount; slot++) if (runnable[slot] !== this.#runnable[slot]) changed.add(slot);
    this.#runnable = runnable.slice();
    for (const run of this.#runs) {
      if (runnable[run.slot] === 0) run.lostMs ??= nowMs;
      // Lost and come back: it may go on as if nothing had been.
      else run.lostMs = undefined;
    }
    return changed;
  }

  /** Whether no run of a lost key can reach the server any more; aborts those that take too long. */
  isDrained(): boolean {
    const { clock, drainMsMax } = this.#options;
    const nowMs = clock.monotonic();
    let isDrained = true;
    for (const run of this.#runs) {
      if (run.isEnded && run.isHarmless(nowMs)) {
        this.#runs.delete(run);
        continue;
      }
      if (run.lostMs === undefined) continue;
      if (nowMs - run.lostMs >= drainMsMax) run.revoke();
      if (!run.isHarmless(nowMs)) isDrained = false;
    }
    return isDrained;
  }

  #begin(slot: number, signal: AbortSignal): RunPermit {
    const run = new ShardRun(slot, signal, this.#options, (ended) => {
      if (ended.isHarmless(this.#options.clock.monotonic())) this.#runs.delete(ended);
    });
    this.#runs.add(run);
    // The key was lost between the question and the answer. This member may already have released it to the
    // others.
    if (this.#runnable[slot] === 0) {
      run.lostMs = this.#options.clock.monotonic();
      run.revoke();
    }
    return run;
  }
}
