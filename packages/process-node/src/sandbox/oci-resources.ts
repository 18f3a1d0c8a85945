/** From a container's limits to the cgroup settings of its configuration. */
import type { ContainerLimits } from "./container-runtime.ts";

export interface OciResources {
  readonly memory?: { readonly limit: number; readonly swap: number };
  readonly cpu?: { readonly quota?: number; readonly period?: number; readonly shares?: number };
  readonly pids?: { readonly limit: number };
  readonly devices?: readonly { readonly allow: boolean; readonly access: string }[];
}

const periodUs = 100_000;
const sharesMin = 2;
/** The kernel refuses less. */
const quotaUsMin = 1_000;

export function ociResources({ cpuMillis, cpuRequestMillis, memoryBytes, processes }: ContainerLimits): OciResources {
  const quota = cpuMillis === undefined ? {} : { quota: quotaUs(cpuMillis), period: periodUs };
  const shares =
    cpuRequestMillis === undefined
      ? {}
      : { shares: Math.max(sharesMin, Math.floor((cpuRequestMillis * 1_024) / 1_000)) };
  const cpu = { ...quota, ...shares };
  return {
    // Swap beyond the memory limit would be memory beyond it.
    ...(memoryBytes === undefined ? {} : { memory: { limit: memoryBytes, swap: memoryBytes } }),
    ...(Object.keys(cpu).length === 0 ? {} : { cpu }),
    ...(processes === undefined ? {} : { pids: { limit: processes } }),
  };
}

function quotaUs(cpuMillis: number): number {
  return Math.max(quotaUsMin, Math.ceil((cpuMillis * periodUs) / 1_000));
}
