import type { Container, Pod } from "@setpoint/api";
import { encodeJson, messageOf } from "@setpoint/apimachinery";
import { podIdentity } from "../cluster/pod.ts";
import { podLimits } from "../pod/container-limits.ts";
import type { ContainerRuntime, PodLimits } from "../sandbox/container-runtime.ts";
import { isToResize, restartsToResize } from "./container-resources.ts";
import type { ContainerWorker } from "./container-worker.ts";

type Workers = ReadonlyMap<string, Pick<ContainerWorker, "resize" | "resources">>;

/** Brings the control groups of a pod that runs to the resources that it asks for now. */
export class PodResizer {
  readonly #runtime: Pick<ContainerRuntime, "limitPod">;
  /** Of the pod's group, as JSON. */
  #limited = "";

  constructor(runtime: Pick<ContainerRuntime, "limitPod">) {
    this.#runtime = runtime;
  }

  /** Returns why a part of it could not be done. A container that restarts for it is left to its worker. */
  resize(pod: Pod, workers: Workers): string | undefined {
    try {
      // No container's group may have more than that of its pod, neither before nor after.
      this.#limitPod(pod, workers);
      for (const container of containersOf(pod)) resizeContainer(container, workers);
      this.#limitPod(pod, workers);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  #limitPod(pod: Pod, workers: Workers): void {
    const limits = wider(podLimits(withApplied(pod, workers)), podLimits(pod));
    const text = encodeJson(limits);
    if (text === this.#limited) return;
    this.#runtime.limitPod(podIdentity(pod).uid, limits);
    this.#limited = text;
  }
}

function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

function resizeContainer(container: Container, workers: Workers): void {
  const worker = workers.get(container.name);
  const { resources } = worker ?? {};
  if (resources === undefined || !isToResize(container, resources) || restartsToResize(container, resources)) return;
  worker?.resize(container);
}

/** The pod as if it asked for what its groups have. */
function withApplied(pod: Pod, workers: Workers): Pod {
  const applied = (container: Container): Container => {
    const { resources } = workers.get(container.name) ?? {};
    return resources === undefined ? container : { ...container, resources };
  };
  const { initContainers = [], containers } = pod.spec;
  const spec = { ...pod.spec, initContainers: initContainers.map(applied), containers: containers.map(applied) };
  return { ...pod, spec };
}

function wider(one: PodLimits, other: PodLimits): PodLimits {
  const { cpuMillis, memoryBytes, ...rest } = other;
  const [cpu, memory] = [larger(one.cpuMillis, cpuMillis), larger(one.memoryBytes, memoryBytes)];
  return {
    ...rest,
    ...(cpu === undefined ? {} : { cpuMillis: cpu }),
    ...(memory === undefined ? {} : { memoryBytes: memory }),
  };
}

/** Undefined is no limit. */
function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
}
