import type { Pod } from "@setpoint/api";
import type { Clock } from "@setpoint/host";
import type { PodParts } from "./pod-parts.ts";
import { PodWorker } from "./pod-worker.ts";
import { podIdentity } from "../cluster/pod.ts";
import { shareHostPort } from "../pod/host-ports.ts";
import type { PodEnding } from "../status/pod-status.ts";

/**
 * The pods of this node: one worker for each UID, from the first time that the informer reports it until it
 * is done.
 */
export class PodManager {
  readonly #parts: PodParts;
  readonly #clock: Clock;
  readonly #workers = new Map<string, PodWorker>();

  constructor(parts: PodParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  /** A pod of this node was created or changed; `object` is undefined when it was deleted. */
  changed(object: Pod | undefined, before: Pod | undefined): void {
    // An object with another UID is another pod: the pod of this name before it was deleted.
    if (before !== undefined && before.metadata.uid !== object?.metadata.uid) this.#gone(before);
    if (object === undefined) return;
    const { uid } = podIdentity(object);
    const worker = this.#workers.get(uid);
    if (worker !== undefined && !worker.isDone) return worker.update(object);
    this.#workers.set(uid, new PodWorker(object, this.#parts, this.#rejectionOf(object)));
  }

  /** A pod that an agent has reported was admitted. */
  #rejectionOf(pod: Pod): PodEnding | undefined {
    if (pod.status?.startTime !== undefined) return undefined;
    const others = this.workers().filter(({ isAdmitted }) => isAdmitted);
    if (!others.some((other) => shareHostPort(pod, other.pod))) return undefined;
    return { reason: "NodePorts", message: "Pod was rejected: Predicate NodePorts failed" };
  }

  find(namespace: string, name: string): PodWorker | undefined {
    const isNamed = ({ pod }: PodWorker): boolean => pod.metadata.namespace === namespace && pod.metadata.name === name;
    const found = [...this.#workers.values()].filter(isNamed);
    return found.find(({ isDone }) => !isDone) ?? found[0];
  }

  uids(): ReadonlySet<string> {
    return new Set(this.#workers.keys());
  }

  /** Syncs these pods, because something that they use has changed. */
  wake(uids: Iterable<string> = this.#workers.keys()): void {
    for (const uid of uids) this.#workers.get(uid)?.wake();
  }

  pods(): Pod[] {
    return [...this.#workers.values()].map(({ pod }) => pod);
  }

  /** Writes the status of every pod, even if it has not changed. */
  reportAgain(): void {
    for (const worker of this.#workers.values()) worker.reportAgain();
  }

  workers(): readonly PodWorker[] {
    return [...this.#workers.values()];
  }

  rotateLogs(): void {
    for (const worker of this.#workers.values()) worker.rotateLogs();
  }

  /** Stops all containers, and kills those that still run after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(graceMs)));
  }

  /** Stops the workers but not their pods: another agent takes over. */
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
