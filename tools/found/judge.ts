/** Says what schedules break when a fix is taken out. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Edit, FoundSchedule } from "../../operators/etcd/src/testing/found-schedules.ts";

export interface Verdict {
  /** The rule and its first sentence; absent when all went well. */
  readonly broken?: string;
  /** Whether each fault has met its place. */
  readonly hasStruck: boolean;
}

/** The sources with these edits, in a thread of their own. One schedule at a time. */
export class Judge implements AsyncDisposable {
  readonly #worker: Worker;

  constructor(edits: readonly Edit[]) {
    this.#worker = new Worker(new URL("judge-worker.ts", import.meta.url), {
      workerData: edits,
      execArgv: ["--conditions=@setpoint/source"],
    });
  }

  /** Rejects when an edit has no place in its file, or the world cannot be built. */
  async judge(schedule: FoundSchedule): Promise<Verdict> {
    const answered = once(this.#worker, "message");
    this.#worker.postMessage(schedule);
    // The parsing border: what the thread says.
    const [verdict] = (await answered) as [Verdict];
    return verdict;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
