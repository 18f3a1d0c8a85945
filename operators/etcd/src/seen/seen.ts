/**
 * One snapshot of an etcd cluster: its spec, what Kubernetes shows, and what etcd itself reports. Facts only:
 * what follows from them is in `plan/situation.ts`.
 */
import type { CertificateReport, DiskHealth } from "@setpoint/data-service";
import type { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { hasEndedAtOnce, pauseAfterFailures, type PodFailure } from "setpoint/pods";
import type { FieldRefusal, RecordedPlan } from "../kind/accepted-plan.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { Authentication, MemberPosition, MemberStatus } from "../gateway/etcd-gateway.ts";
import type { EtcdPlan } from "../kind/etcd-plans.ts";
import type { PinnedImages } from "../kind/related-images.ts";
import { initialMembers } from "./initial-members.ts";
import type { RestoreView } from "./restore-view.ts";

export interface SeenMember {
  readonly name: string;
  /** The entry of etcd's member list; absent when it has none, or without a quorum to ask. */
  readonly listed?: { readonly id: string; readonly learner: boolean; readonly started: boolean } | undefined;
  /** Its entry in the last status of the EtcdCluster. */
  readonly recorded?:
    | { readonly id?: string | undefined; readonly role?: string; readonly unhealthySince?: string | undefined }
    | undefined;
  /** How far its log is committed, by its answer, or without a leader by its metrics. */
  readonly position?: MemberPosition | undefined;
  /** For how long this process has seen no sign of life of it, while no quorum answers. */
  readonly absentForMs?: number | undefined;
  /** Its volume is marked as given up. */
  readonly isMarked?: boolean;
  /** For how long this process has seen its pod run without an answer. */
  readonly silentForMs?: number | undefined;
  /** For how long this process has seen its pod failed. */
  readonly failedForMs?: number | undefined;
  readonly pod?: Pod | undefined;
  /** Why its pod does not run. */
  readonly failure?: PodFailure | undefined;
  readonly volume?: PersistentVolumeClaim | undefined;
  /** Its own answer; absent when it gave none. */
  readonly status?: MemberStatus | undefined;
}

export interface Seen {
  /** The EtcdCluster with what its plan gives, and without the refused fields of its spec. */
  readonly cluster: EtcdCluster;
  readonly refusals: readonly FieldRefusal[];
  /** What a user should know of fields that are accepted. */
  readonly notices?: readonly FieldRefusal[];
  /** The plan in force. */
  readonly plan?: RecordedPlan;
  /** The plans that there are. */
  readonly plans?: readonly EtcdPlan[];
  readonly restore: RestoreView;
  /** The time of the snapshot. */
  readonly nowMs: number;
  readonly members: readonly SeenMember[];
  /** Members that a recovery of the quorum has given up, as long as anything is left of them. */
  readonly givenUp: readonly SeenMember[];
  /** The operator's own image, with which the data of a survivor are copied. */
  readonly copyImage?: string | undefined;
  /** How slow the disks of members are, as far as that is known. */
  readonly disks?: ReadonlyMap<string, DiskHealth> | undefined;
  /** The longest average round trip between two members, once all have been measured for long enough. */
  readonly roundTrip?: { readonly averageMs: number; readonly between: readonly string[] } | undefined;
  /** The highest revision that is known. */
  readonly highestRevision?: number | undefined;
  /** The Services of the cluster by name, also those of another owner. */
  readonly services: ReadonlyMap<string, Service>;
  readonly budget?: PodDisruptionBudget | undefined;
  /** Whether a quorum answered; only then `listed` is known. */
  readonly quorum: boolean;
  /** Why no member answers although their nodes report them ready: this process cannot reach them. */
  readonly unreached?: string | undefined;
  /** Whether etcd asks for logins; undefined without a quorum, and where the spec does not want it. */
  readonly authentication?: Authentication | undefined;
  /** Whether the Secret with the login of root should exist, and does not. */
  readonly isRootMissing?: boolean;
  /** The distinct cluster IDs that members report; more than one is a split brain. */
  readonly clusterIds: readonly string[];
  /** What is due for the certificates; undefined without TLS. */
  readonly certificates?: CertificateReport | undefined;
  /** Images in place of the usual ones, by version. */
  readonly pinnedImages: PinnedImages;
}

/** From here on, exit codes are signals: 9 is SIGKILL, 15 SIGTERM. */
const killedCode = 128;

export type PodState = "missing" | "starting" | "running" | "failed" | "terminating";

export function podState(pod: Pod | undefined): PodState {
  if (pod === undefined) return "missing";
  if (pod.metadata.deletionTimestamp !== undefined) return "terminating";
  const phase = pod.status?.phase;
  if (phase === "Failed" || phase === "Succeeded") return "failed";
  return phase === "Running" ? "running" : "starting";
}

/** Whether the pod waits for a claim that a client deleted: it has never started, or never will again. */
export function waitsForVolume({ cluster }: Seen, member: SeenMember): boolean {
  if (cluster.spec.volumeClaimTemplate === undefined || podState(member.pod) !== "starting") return false;
  return member.volume === undefined || isVolumeLeaving(member);
}

/** Whether its claim is being deleted: no pod starts on it any more. */
export function isVolumeLeaving({ volume }: SeenMember): boolean {
  return volume?.metadata.deletionTimestamp !== undefined;
}

/** A voter or learner that answers and knows a leader. */
export function isHealthy(member: SeenMember): boolean {
  return member.status !== undefined && member.status.leaderId !== "";
}

export function isLeader(member: SeenMember): boolean {
  return member.status !== undefined && member.status.leaderId === member.status.memberId;
}

/**
 * Whether a pod failed right after its start, for a reason that is most likely still there: an immediate
 * restart would loop at full speed, so the pause doubles with each failure. The wall clock may be an hour
 * behind the node's, so it does not decide.
 */
export function failedAtOnce({ pod, failedForMs = 0, failure }: SeenMember): boolean {
  if (podState(pod) !== "failed" || pod === undefined || !hasEndedAtOnce(pod)) return false;
  return failedForMs < pauseAfterFailures(failure?.times ?? 1);
}

/** The same for a member that would be replaced: the first failure may be its own, the second is not. */
export function failedAtOnceAgain(member: SeenMember): boolean {
  return (member.failure?.times ?? 0) > 1 && failedAtOnce(member);
}

/**
 * Whether a program ended by itself soon after its start: nothing killed it, and it does not accept its
 * configuration or data.
 */
export function hasRefusedToRun(pod: Pod | undefined): boolean {
  if (podState(pod) !== "failed" || pod === undefined || !hasEndedAtOnce(pod)) return false;
  const ended = pod.status?.containerStatuses?.[0]?.state?.terminated;
  return (ended?.exitCode ?? killedCode) < killedCode;
}

/** Whether Services send clients to this member: its node reports it ready. */
export function isServing(member: SeenMember): boolean {
  return member.pod?.status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
}

/**
 * A joining member needs all members, also those that have not started; etcd compares this list with its own.
 */
export function joinList(seen: Seen, name: string): readonly string[] {
  return [
    ...seen.members.filter((each) => each.listed !== undefined && each.name !== name).map((each) => each.name),
    name,
  ];
}

/**
 * Whether the cluster exists, by its status or by this observation, which is recorded before any step relies
 * on it. From then on nothing may start it empty again.
 */
export function isFounded(seen: Seen): boolean {
  return seen.cluster.status?.clusterID !== undefined || isComplete(seen) || hasLostFounder(seen);
}

/** Every initial member is a healthy voter of one cluster. */
function isComplete(seen: Seen): boolean {
  if (!seen.quorum || seen.clusterIds.length !== 1) return false;
  return initialMembers(seen).every((name) =>
    seen.members.some((each) => each.name === name && each.listed !== undefined && isHealthy(each)),
  );
}

/**
 * Whether a member of the first start joined and then lost its data with its pod. etcd never takes it back
 * under that name, so the first start cannot be completed. But a quorum answers, so the cluster exists and is
 * repaired like any other. The member may have been restarted on an empty volume while no quorum could report
 * that it had joined; then it ends right after its start. A member that waits for a deleted claim counts too,
 * whether or not it reported its start: it may have voted before.
 */
function hasLostFounder(seen: Seen): boolean {
  if (!seen.quorum || seen.clusterIds.length !== 1) return false;
  return seen.members.some(
    (member) => member.listed !== undefined && (waitsForVolume(seen, member) || hasEnded(member)),
  );
}

/** A pod that has not started may start soon. */
function hasEnded({ listed, pod, volume }: SeenMember): boolean {
  const isGone = volume === undefined && ["failed", "missing"].includes(podState(pod));
  return listed?.started === true && (isGone || hasRefusedToRun(pod));
}
