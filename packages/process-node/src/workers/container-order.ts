/**
 * Which containers of a pod run now: init containers one after the other, then the main ones together. Pure.
 */
import type { Container, Pod } from "@setpoint/api";
import { isSidecar } from "../cluster/pod.ts";
import { restarts } from "../status/pod-status.ts";
import type { ContainerWorker } from "./container-worker.ts";

type ContainerStates = ReadonlyMap<string, Pick<ContainerWorker, "exitCode" | "running" | "started">>;

export type ContainerPlan =
  | {
      readonly kind: "run";
      readonly containers: readonly Container[];
      /** The main containers wait for an init container. */
      readonly isInitializing: boolean;
    }
  /** The main containers have ended for good, or an init container has failed for good. */
  | { readonly kind: "stopSidecars" };

export function planContainers(pod: Pod, states: ContainerStates): ContainerPlan {
  if (hasEnded(pod, states)) return { kind: "stopSidecars" };
  const { initContainers = [], containers } = pod.spec;
  const isRunning = containers.some(({ name }) => states.get(name)?.running !== undefined);
  const due: Container[] = [];
  for (const container of initContainers) {
    const state = states.get(container.name);
    if (!isSidecar(container) && state?.exitCode === 0) continue;
    due.push(container);
    const isReady = isSidecar(container) && state?.started === true;
    // Once a main container runs, a sidecar that restarts holds nothing back.
    if (!isReady && !isRunning) return { kind: "run", containers: due, isInitializing: true };
  }
  return { kind: "run", containers: [...due, ...containers], isInitializing: false };
}

/** Whether the container starts again after it has ended with `exitCode`. */
export function restartsAfter({ spec }: Pod, container: Container, exitCode: number): boolean {
  if (isSidecar(container)) return true;
  const { restartPolicy = "Always", initContainers = [] } = spec;
  const isInit = initContainers.some(({ name }) => name === container.name);
  return restarts(isInit && restartPolicy === "Always" ? "OnFailure" : restartPolicy, exitCode);
}

function hasEnded(pod: Pod, states: ContainerStates): boolean {
  const hasEndedForGood = (container: Container): boolean => {
    const exitCode = states.get(container.name)?.exitCode;
    return exitCode !== undefined && !restartsAfter(pod, container, exitCode);
  };
  const hasFailed = (container: Container): boolean =>
    hasEndedForGood(container) && states.get(container.name)?.exitCode !== 0;
  return pod.spec.containers.every(hasEndedForGood) || (pod.spec.initContainers ?? []).some(hasFailed);
}
