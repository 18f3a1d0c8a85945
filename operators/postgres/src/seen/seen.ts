/** One snapshot of a PostgreSQL cluster: its spec, what Kubernetes shows, and what its instances report. */
import type { CertificateReport, RestoreMark, ServerArchive } from "@setpoint/data-service";
import type { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { InstanceReport } from "../instance/instance-protocol.ts";
import type { ParameterRefusal } from "../kind/parameters.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import type { Memory } from "./memory.ts";
import type { PoolerOfCluster } from "./poolers.ts";

export interface SeenInstance {
  readonly name: string;
  readonly pod?: Pod | undefined;
  readonly claim?: PersistentVolumeClaim | undefined;
  /** Its own answer; absent when it gave none. */
  readonly report?: InstanceReport | undefined;
  /** Why its pod does not run, in one sentence. */
  readonly failure?: string | undefined;
}

export interface Seen {
  /** With the spec in force, which in a dry run is the one from before. */
  readonly cluster: PostgresCluster;
  readonly asked: PostgresCluster["spec"];
  /** In a dry run on a machine that does not reach the pods: their silence means nothing. */
  readonly isOutOfReach?: boolean | undefined;
  readonly refusals: readonly ParameterRefusal[];
  readonly certificates: CertificateReport;
  /** Instances that the spec asks for, and those of which anything is left. */
  readonly instances: readonly SeenInstance[];
  /** Names of Services that are missing or differ from the desired ones. */
  readonly servicesToApply: readonly string[];
  readonly needsBudget: boolean;
  /** A Service of a name that this cluster needs, and that is not its own. */
  readonly serviceTaken?: string | undefined;
  readonly hasLogin: boolean;
  /** A Secret of the name of the login that is of another owner, before the first start. */
  readonly loginTaken?: string | undefined;
  /** How instances reach the store of the archive; absent without one, or while it is refused. */
  readonly archive?: ServerArchive | undefined;
  readonly storeRefusal?: string | undefined;
  /** The PostgresPoolers of the cluster. */
  readonly poolers: readonly PoolerOfCluster[];
  /** Why no step that interrupts clients may begin now; absent while one may. */
  readonly closed?: string | undefined;
  /** Whether the data from before an upgrade have been kept for long enough. */
  readonly isSafetyCopyOver?: boolean | undefined;
  /** What a Restore asks for. */
  readonly restore?: RestoreMark | undefined;
  /** Volumes of other data than those that the cluster runs on, by the restore that they are of. */
  readonly otherClaims: readonly PersistentVolumeClaim[];
  /** What this process remembers of earlier observations. */
  readonly memory: Memory;
  readonly monotonicMs: number;
}

export type PodState = "missing" | "starting" | "running" | "ended" | "leaving";

/** What the kubelet says of the pod's server; a node that is cut off goes on saying the last. */
export function podState(pod: Pod | undefined): PodState {
  if (pod === undefined) return "missing";
  const { state, lastState } = pod.status?.containerStatuses?.find(({ name }) => name === "postgres") ?? {};
  // One that waits for its restart, CrashLoopBackOff, has ended as well.
  if (state?.terminated !== undefined || (state?.waiting !== undefined && lastState?.terminated !== undefined))
    return "ended";
  if (pod.metadata.deletionTimestamp !== undefined) return "leaving";
  return state?.running === undefined ? "starting" : "running";
}

export function isReady({ pod }: SeenInstance): boolean {
  const ready = pod?.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "True" && pod?.metadata.deletionTimestamp === undefined;
}

export function instanceNamed({ instances }: Seen, name: string | undefined): SeenInstance | undefined {
  return instances.find((each) => each.name === name);
}

/** The instance that may accept writes, by the status. */
export function primaryOf(seen: Seen): SeenInstance | undefined {
  return instanceNamed(seen, seen.cluster.status?.primary);
}

export function acceptsWrites({ report }: SeenInstance): boolean {
  return report?.server === "running" && report.isPrimary === true;
}

/** A replica that has data and answers. */
export function isStandby({ report }: SeenInstance): boolean {
  return report?.server === "running" && report.isPrimary === false;
}

export function isStreaming(instance: SeenInstance): boolean {
  return isStandby(instance) && instance.report?.isStreaming === true;
}

/** Which instances are there, whatever the spec asks for. */
export function hasStarted({ pod, claim }: SeenInstance): boolean {
  return pod !== undefined || claim !== undefined;
}
