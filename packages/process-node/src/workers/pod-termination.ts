import type { Pod } from "@setpoint/api";
import { isSidecar } from "../cluster/pod.ts";
import type { ContainerWorker } from "./container-worker.ts";

type Workers = ReadonlyMap<string, ContainerWorker>;

const defaultGraceSeconds = 30;

/** What the deletion asks for, else the pod itself. */
export function graceMsOf({ metadata, spec }: Pod): number {
  // An integer beyond 2^53 is a bigint.
  const seconds = metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
  return Number(seconds) * 1_000;
}

/** Main containers stop together, then init containers and sidecars in the reverse order of their start. */
export async function stopInOrder({ spec }: Pod, workers: Workers, graceMs: number): Promise<void> {
  const inits = (spec.initContainers ?? []).map(({ name }) => name);
  const main = [...workers.values()].filter(({ name }) => !inits.includes(name));
  await Promise.all(main.map((worker) => stopContainer(worker, graceMs)));
  for (const name of inits.toReversed()) {
    const worker = workers.get(name);
    if (worker !== undefined) await stopContainer(worker, graceMs);
  }
}

/** All containers stop at once. */
export async function stopTogether(workers: Workers, graceMs: number): Promise<void> {
  await Promise.all([...workers.values()].map((worker) => stopContainer(worker, graceMs)));
}

export async function stopSidecars(pod: Pod, workers: Workers): Promise<void> {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).toReversed();
  for (const { name } of sidecars) await workers.get(name)?.stop(graceMsOf(pod));
}

async function stopContainer(worker: ContainerWorker, graceMs: number): Promise<void> {
  if (worker.isStarting) worker.destroy();
  await worker.stop(graceMs);
}
