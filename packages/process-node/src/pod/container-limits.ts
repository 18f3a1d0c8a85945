/**
 * What a pod's containers may use, from their resources; where they say nothing, what one pod may do to the
 * others.
 */
import type { Container, Pod } from "@setpoint/api";
import type { ContainerLimits, PodLimits } from "../sandbox/container-runtime.ts";
import { quantityNumber } from "../volumes/downward-api.ts";

/** Processes and threads of one pod: a kubelet's operators set about as many (podPidsLimit). */
const podProcessesMax = 1_024;

export function containerLimits({ resources = {} }: Container): ContainerLimits {
  const { limits = {}, requests = {} } = resources;
  // A limit without a request is a request as well.
  const request = requests["cpu"] ?? limits["cpu"];
  return {
    ...(limits["cpu"] === undefined ? {} : { cpuMillis: millis(limits["cpu"]) }),
    cpuRequestMillis: request === undefined ? 0 : millis(request),
    ...(limits["memory"] === undefined ? {} : { memoryBytes: bytes(limits["memory"]) }),
    processes: podProcessesMax,
  };
}

/**
 * A sum exists only when each container has its limit: without one, a container may use what the node has.
 */
export function podLimits({ spec }: Pod): PodLimits {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const steps = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== "Always");
  const together = [...spec.containers, ...sidecars];
  const limitOf = (resource: string, read: (text: string) => number): number | undefined => {
    const all = [...together, ...steps].map(({ resources }) => resources?.limits?.[resource]);
    if (all.some((text) => text === undefined)) return undefined;
    const sum = together.reduce((total, { resources }) => total + read(resources?.limits?.[resource] ?? "0"), 0);
    return Math.max(sum, ...steps.map(({ resources }) => read(resources?.limits?.[resource] ?? "0")));
  };
  const [memoryBytes, cpuMillis] = [limitOf("memory", bytes), limitOf("cpu", millis)];
  return {
    processes: podProcessesMax,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(cpuMillis === undefined ? {} : { cpuMillis }),
  };
}

function millis(text: string): number {
  return Math.ceil(quantityNumber(text) * 1_000);
}

function bytes(text: string): number {
  return Math.ceil(quantityNumber(text));
}
