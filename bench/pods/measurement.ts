/** What is measured of one cluster, by a program that reaches its API server. */
import type { ClusterMemory, WhichProcesses } from "./cluster-processes.ts";

/** The argument of `measure.ts`, as JSON. */
export interface MeasurementOrder {
  readonly kubeconfig: string;
  readonly pods: number;
  readonly idleSeconds: number;
  readonly processes: WhichProcesses;
  /** Where the `Measurement` goes, as JSON. */
  readonly resultFile: string;
}

export interface Measurement {
  readonly pods: number;
  /** From the first request until a client saw a pod Ready; the earliest first. */
  readonly readyMs: readonly number[];
  /** From the request until the last pod was gone. */
  readonly deleteMs: number;
  readonly before: ClusterMemory;
  readonly after: ClusterMemory;
  /** From the first request until the last pod was Ready. */
  readonly cpuSeconds: number;
  readonly machineBusySeconds: number;
  /** Of one core, with nothing to do but to run the pods. */
  readonly idlePercent: number;
  /** Before any pod. */
  readonly emptyIdlePercent: number;
  /** Of a GET of a namespace, until the last pod was Ready. */
  readonly apiMs: readonly number[];
  /** The same until the last pod was gone. */
  readonly apiDeleteMs: readonly number[];
  readonly loadBefore: number;
  readonly loadAfter: number;
  /** Empty when every pod became Ready and stayed so. */
  readonly complaints: Readonly<Record<string, number>>;
}

/** The value below which `part` of the sorted samples are. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}
