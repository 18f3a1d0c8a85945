/** Decides when an operator whose writes are pretended has nothing more to do. */
import type { ApiRequest, Transport } from "@setpoint/apimachinery";
import type { PretendedWrite } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import type { Manager } from "setpoint/process";
import { changesOnlyTimes, fieldDiff } from "./field-diff.ts";

type WorkState = Pick<Manager, "isQuiet" | "busyKeys">;

/** The changes that had been made when runs of a key began: of its latest run, and of the one before. */
interface BegunRuns {
  readonly latest: number;
  readonly before: number | undefined;
}

/**
 * The plan is at rest when nothing has changed for a while, and each key that is still busy repeats itself:
 * its last run came after the last change, changed nothing, and it runs again. Such a key waits for what a
 * plan never brings, such as a pod. New times in a status and events are no change.
 */
export class PlanRest {
  readonly #clock: Clock;
  readonly #quietMs: number;
  readonly #runs = new Map<string, BegunRuns>();
  readonly #refusals = new Set<string>();
  #work: WorkState | undefined;
  #changes = 0;
  #open = 0;
  #lastMs: number;
  #lookedMs: number;

  constructor(clock: Clock, quietMs: number) {
    this.#clock = clock;
    this.#quietMs = quietMs;
    this.#lastMs = clock.monotonic();
    this.#lookedMs = this.#lastMs;
  }

  /** Watches the work of a manager that begins now. */
  follow(work: WorkState): void {
    this.#work = work;
    this.#lastMs = this.#clock.monotonic();
    this.#lookedMs = this.#lastMs;
  }

  began(controller: string, key: string): void {
    const id = `${controller} ${key}`;
    this.#runs.set(id, { latest: this.#changes, before: this.#runs.get(id)?.latest });
  }

  wrote(write: PretendedWrite): void {
    if (!this.#isChange(write)) return;
    this.#changes++;
    this.#lastMs = this.#clock.monotonic();
  }

  isReached(): boolean {
    this.#forgetTimeHeldUp();
    if (this.#work === undefined || this.#open > 0) return false;
    if (this.#clock.monotonic() - this.#lastMs < this.#quietMs) return false;
    if (this.#work.isQuiet()) return true;
    const busy = this.#work.busyKeys();
    return busy.length > 0 && busy.every(({ controller, key }) => this.#repeats(`${controller} ${key}`));
  }

  /** Notes the requests; those outside of runs, such as a daemon's, delay the end. */
  transport(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        this.#open++;
        try {
          return await inner.send(request, signal);
        } finally {
          this.#open--;
          if (!isOfEvents(request) && this.#work?.isQuiet() !== false) this.#lastMs = this.#clock.monotonic();
        }
      },
    };
  }

  /** A process that was held up for longer than the quiet time has seen no quiet: nothing could change. */
  #forgetTimeHeldUp(): void {
    const nowMs = this.#clock.monotonic();
    const sinceLookMs = nowMs - this.#lookedMs;
    this.#lookedMs = nowMs;
    if (sinceLookMs > this.#quietMs) this.#lastMs += sinceLookMs;
  }

  /** Only of the run before is it certain that it has ended, with its status. */
  #repeats(id: string): boolean {
    return this.#runs.get(id)?.before === this.#changes;
  }

  #isChange({ verb, place, before, after, refused }: PretendedWrite): boolean {
    if (place.resource === "events") return false;
    if (refused === undefined) return !changesOnlyTimes(fieldDiff(before, after));
    const refusal = JSON.stringify([verb, place, refused.message]);
    if (this.#refusals.has(refusal)) return false;
    this.#refusals.add(refusal);
    return true;
  }
}

function isOfEvents({ path }: ApiRequest): boolean {
  return path.split("/").includes("events");
}
