/** Follows the pods of a cluster by one watch, and remembers when each was first seen Ready. */
import { Pod } from "@setpoint/api";
import type { WatchFrame } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { namespace } from "./workload.ts";

const pollMs = 5;

export class PodTimes implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #pods = new Map<string, Pod>();
  readonly #readyAtMs = new Map<string, number>();
  readonly #following: Promise<void>;

  constructor(client: Client) {
    this.#following = this.#follow(client);
  }

  /** The milliseconds since `beginMs` at which pods became Ready, the earliest first. */
  readyMs(beginMs: number): readonly number[] {
    return [...this.#readyAtMs.values()].map((atMs) => atMs - beginMs).toSorted((a, b) => a - b);
  }

  /** False after `msMax`. */
  untilReady(count: number, msMax: number): Promise<boolean> {
    return until(() => this.#readyAtMs.size >= count, msMax);
  }

  /** False after `msMax`. Then the next pods are counted from nothing. */
  async untilGone(msMax: number): Promise<boolean> {
    const isEmpty = await until(() => this.#pods.size === 0, msMax);
    this.#readyAtMs.clear();
    return isEmpty;
  }

  /** Why pods are not Ready, or were started again: how many pods for each reason. */
  complaints(): Readonly<Record<string, number>> {
    const reasons = [...this.#pods.values()].map(complaint).filter((reason) => reason !== undefined);
    return Object.fromEntries(
      Map.groupBy(reasons, (reason) => reason)
        .entries()
        .map(([why, of]) => [why, of.length]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }

  async #follow(client: Client): Promise<void> {
    const { signal } = this.#stopping;
    try {
      for (;;) {
        const { items, resourceVersion } = await client.listAll(Pod, { namespace });
        this.#pods.clear();
        for (const pod of items) this.#see(pod);
        const frames = await client.watch(Pod, { namespace, resourceVersion, signal });
        for await (const frame of frames) if (!this.#take(frame)) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** False when the server cannot go on, and pods must be listed again. */
  #take({ type, object }: WatchFrame): boolean {
    if (type === "ERROR") return false;
    // The watch is one of pods.
    const pod = object as Pod;
    if (type === "DELETED") this.#pods.delete(pod.metadata.name ?? "");
    else if (type !== "BOOKMARK") this.#see(pod);
    return true;
  }

  #see(pod: Pod): void {
    const { name = "" } = pod.metadata;
    this.#pods.set(name, pod);
    if (isReady(pod) && !this.#readyAtMs.has(name)) this.#readyAtMs.set(name, performance.now());
  }
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function complaint(pod: Pod): string | undefined {
  const [container] = pod.status?.containerStatuses ?? [];
  if (isReady(pod)) return (container?.restartCount ?? 0) > 0 ? "was started again" : undefined;
  const { waiting, terminated } = container?.state ?? {};
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  const why = waiting?.message ?? waiting?.reason ?? terminated?.message ?? terminated?.reason;
  return `${pod.status?.phase ?? "no phase"}: ${why ?? pod.status?.message ?? scheduled?.message ?? "no reason given"}`;
}

async function until(holds: () => boolean, msMax: number): Promise<boolean> {
  const deadlineMs = performance.now() + msMax;
  while (!holds()) {
    if (performance.now() > deadlineMs) return false;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return true;
}
