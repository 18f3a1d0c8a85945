import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Protections } from "../protection/protections.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { OwnWrites } from "../writes/own-writes.ts";
import type { RunVerdict } from "./run-supervisor.ts";

/** A run that asks to be repeated so soon is counted by the protection against hot loops. */
const soonMsMax = 60_000;

/** Who is told of runs for nothing, and what may follow from that. */
export interface EchoWatchOptions {
  readonly queue: Pick<WorkQueue, "addAfter">;
  readonly protections: Pick<Protections, "knows" | "afterRun">;
  find(this: void, key: string): Stored<KubeObject> | undefined;
}

/** Tells echoes of a run's own writes from changes, so that a key that runs again and again for nothing is noticed. */
export class EchoWatch {
  readonly #options: EchoWatchOptions;
  /** What woke keys while they were running. */
  readonly #wokenBy = new Map<string, KubeObject[]>();

  constructor(options: EchoWatchOptions) {
    this.#options = options;
  }

  /** The object has woken a key that is running. */
  note(key: string, object: KubeObject): void {
    const known = this.#wokenBy.get(key);
    if (known === undefined) this.#wokenBy.set(key, [object]);
    else known.push(object);
  }

  /** Tells the protections whether the key ran for a reason, and what comes next; without a verdict it has not run. */
  afterRun(key: string, verdict: RunVerdict | undefined, writes: Pick<OwnWrites, "isEcho">): void {
    const { queue, protections, find } = this.#options;
    const wokenBy = this.#wokenBy.get(key);
    if (wokenBy !== undefined) this.#wokenBy.delete(key);
    if (verdict === undefined || verdict.end === "error") return;
    const { result } = verdict;
    const isSoon = wokenBy !== undefined || (result?.kind === "requeueAfter" && result.delayMs < soonMsMax);
    // A key at rest is of no interest to them: nearly all runs end here.
    if (!isSoon && !protections.knows(key)) return;
    const object = find(key);
    if (object === undefined) return;
    const isEcho = wokenBy?.every((each) => writes.isEcho(each)) ?? true;
    const againMs = protections.afterRun(key, object, isEcho, isSoon);
    if (againMs !== undefined) queue.addAfter(key, againMs);
  }
}
