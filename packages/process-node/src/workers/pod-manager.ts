import type { Pod } from "@setpoint/api";
import type { Clock } from "@setpoint/host";
import type { PodParts } from "./pod-parts.ts";
import { PodWorker } from "./pod-worker.ts";
import { podIdentity } from "../cluster/pod.ts";

/** The pods of this node: one worker for each UID, from the first sight until it is done. */
export class PodManager {
  readonly #parts: PodParts;
  readonly #clock: Clock;
  readonly #workers = new Map<string, PodWorker>();

  constructor(parts: PodParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  /** A pod of this node was seen, or changed, or (`object` absent) is gone from the API. */
  changed(object: Pod | undefined, before: Pod | undefined): void {
    // A namesake with another UID is a stranger: the one before it is gone.
    if (before !== undefined && before.metadata.uid !== object?.metadata.uid) this.#gone(before);
    if (object === undefined) return;
    const { uid } = podIdentity(object);
    const worker = this.#workers.get(uid);
    if (worker === undefined || worker.isDone) this.#workers.set(uid, new PodWorker(object, this.#parts));
    else worker.update(object);
  }

  find(namespace: string, name: string): PodWorker | undefined {
    const isNamed = ({ pod }: PodWorker): boolean => pod.metadata.namespace === namespace && pod.metadata.name === name;
    const found = [...this.#workers.values()].filter(isNamed);
    return found.find(({ isDone }) => !isDone) ?? found[0];
  }

  uids(): ReadonlySet<string> {
    return new Set(this.#workers.keys());
  }

  /** These pods look again: something that they use has changed. */
  wake(uids: Iterable<string> = this.#workers.keys()): void {
    for (const uid of uids) this.#workers.get(uid)?.wake();
  }

  pods(): Pod[] {
    return [...this.#workers.values()].map(({ pod }) => pod);
  }

  /** Each pod's status is written, whatever was written before. */
  reportAgain(): void {
    for (const worker of this.#workers.values()) worker.reportAgain();
  }

  workers(): readonly PodWorker[] {
    return [...this.#workers.values()];
  }

  rotateLogs(): void {
    for (const worker of this.#workers.values()) worker.rotateLogs();
  }

  /** All containers end; those that outlive `graceMs` are killed. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(graceMs)));
  }

  /** Nothing of the pods changes any more: another agent takes over. */
  async leave(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.leave()));
  }

  #gone(pod: Pod): void {
    const { uid } = podIdentity(pod);
    const worker = this.#workers.get(uid);
    if (worker === undefined) return;
    void worker
      .removed()
      .then(() => this.#clock.defer(() => this.#workers.get(uid) === worker && this.#workers.delete(uid)));
  }
}
