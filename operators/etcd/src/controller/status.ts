/** What the EtcdCluster's status says of a snapshot and the step that was decided; pure. */
import type { Condition } from "@setpoint/apimachinery";
import { setCondition } from "setpoint";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { compareEtcdVersions } from "../etcd-version.ts";
import { labels } from "../member-names.ts";
import { clientServiceName } from "../resources/services.ts";
import { initialMemberNames } from "./initial-members.ts";
import type { EtcdStep } from "./plan.ts";
import { isBootstrapped, isHealthy, isLeader, type Seen, type SeenMember } from "./seen.ts";

type Status = NonNullable<EtcdCluster["status"]>;

export function etcdStatus(seen: Seen, step: EtcdStep, nowMs: number): Record<string, unknown> {
  const { cluster } = seen;
  const members = seen.members.filter((member) => belongs(seen, member)).map((member) => memberStatus(member, nowMs));
  const versions = seen.members.flatMap((member) => member.status?.version ?? []).sort(compareEtcdVersions);
  const currentVersion = versions[0] ?? cluster.status?.currentVersion;
  const leader = seen.members.find(isLeader)?.name;
  const clusterID = cluster.status?.clusterID ?? (isComplete(seen) ? seen.clusterIds[0] : undefined);
  const phase = phaseOf(seen, step, currentVersion);
  const waitingFor = waiting(cluster.status, step, nowMs);
  return {
    phase,
    ...(cluster.metadata.generation === undefined ? {} : { observedGeneration: cluster.metadata.generation }),
    ...(clusterID === undefined ? {} : { clusterID }),
    initialMembers: initialMemberNames(cluster),
    size: members.length,
    readyMembers: members.filter((member) => member.healthy && member.role !== "Learner").length,
    ...(leader === undefined ? {} : { leader }),
    ...(currentVersion === undefined ? {} : { currentVersion }),
    targetVersion: seen.targetVersion,
    serviceName: clientServiceName(cluster.metadata.name ?? ""),
    selector: `${labels.cluster}=${cluster.metadata.name ?? ""}`,
    members,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    conditions: conditions(seen, step, phase, nowMs),
  };
}

/** Members by etcd's list; while nobody can say, those that we knew, and at the first start all. */
function belongs(seen: Seen, member: SeenMember): boolean {
  if (seen.quorum && isBootstrapped(seen.cluster)) return member.listed !== undefined;
  return member.recorded !== undefined || member.pod !== undefined;
}

function memberStatus(member: SeenMember, nowMs: number): Status["members"][number] {
  const healthy = isHealthy(member);
  const id = member.listed?.id ?? member.status?.memberId ?? member.recorded?.id;
  const version = member.status?.version;
  return {
    name: member.name,
    ...(id === undefined ? {} : { id }),
    ...(version === undefined ? {} : { version }),
    role: roleOf(member),
    healthy,
    ...(healthy ? {} : { unhealthySince: member.recorded?.unhealthySince ?? rfc3339(nowMs) }),
  };
}

function roleOf(member: SeenMember): Status["members"][number]["role"] {
  if (member.listed?.learner === true || member.status?.learner === true) return "Learner";
  if (member.status === undefined) return "Unknown";
  return isLeader(member) ? "Leader" : "Follower";
}

/** Every initial member is a healthy voter of one cluster. */
function isComplete(seen: Seen): boolean {
  if (!seen.quorum || seen.clusterIds.length !== 1) return false;
  const initial = initialMemberNames(seen.cluster);
  return initial.every((name) => seen.members.some((each) => each.name === name && each.listed !== undefined && isHealthy(each)));
}

function phaseOf(seen: Seen, step: EtcdStep, currentVersion: string | undefined): Status["phase"] {
  const { cluster } = seen;
  if (cluster.spec.paused) return "Paused";
  if (seen.serviceTaken !== undefined || seen.clusterIds.length > 1) return "Failed";
  if (!isBootstrapped(cluster)) return "Creating";
  const members = seen.members.filter((each) => each.listed !== undefined);
  if (!seen.quorum || members.some((each) => !isHealthy(each) && each.listed?.learner === false && !isUpgrading(seen, each))) return "Recovering";
  if (members.length !== cluster.spec.size || members.some((each) => each.listed?.learner)) return "Scaling";
  if (currentVersion !== seen.targetVersion || (step.kind === "act" && (step.action === "upgradeMember" || step.action === "moveLeader"))) return "Upgrading";
  return "Running";
}

/** A member that is silent because it restarts with another image is not a casualty. */
function isUpgrading(seen: Seen, member: SeenMember): boolean {
  return seen.cluster.status?.phase === "Upgrading" && member.pod?.status?.phase === "Running";
}

/** A next try that is longer past than this is written anew; more often would only make writes. */
const nextTryStaleMs = 10_000;

/** What is waited for; `since` stays while the subject stays, so that a person sees how long it takes. */
function waiting(previous: Status | undefined, step: EtcdStep, nowMs: number): Status["waitingFor"] {
  if (step.kind !== "wait") return undefined;
  const nextTry = rfc3339(nowMs + step.delayMs);
  const same = previous?.waitingFor?.what === step.reason ? previous.waitingFor : undefined;
  if (same === undefined) return { what: step.reason, since: rfc3339(nowMs), nextTry };
  const stale = same.nextTry === undefined || nowMs - Date.parse(same.nextTry) > nextTryStaleMs;
  return stale ? { ...same, nextTry } : same;
}

function conditions(seen: Seen, step: EtcdStep, phase: Status["phase"], nowMs: number): readonly Condition[] {
  const healthy = seen.members.filter((member) => member.listed !== undefined && isHealthy(member)).length;
  const available = seen.quorum && isBootstrapped(seen.cluster);
  const generation = seen.cluster.metadata.generation;
  const wanted = [
    {
      type: "Available",
      status: available ? "True" : "False",
      reason: available ? "QuorumAnswers" : isBootstrapped(seen.cluster) ? "NoQuorum" : "FirstStart",
      message: available ? `A quorum answers` : step.kind === "rest" ? "No quorum answers" : step.reason,
    },
    progressing(seen, step, phase),
    degraded(seen, phase, healthy),
  ] as const;
  let list = (seen.cluster.status?.conditions ?? []) as readonly Condition[];
  for (const condition of wanted) list = setCondition(list, { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) }, rfc3339(nowMs));
  return list;
}

type Wanted = Pick<Condition, "type" | "status" | "reason" | "message">;

function progressing(seen: Seen, step: EtcdStep, phase: Status["phase"]): Wanted {
  if (seen.versionRefusal !== undefined) return { type: "Progressing", status: "False", reason: "VersionRefused", message: seen.versionRefusal };
  if (phase === "Paused") return { type: "Progressing", status: "False", reason: "Paused", message: "spec.paused is true: nothing is changed" };
  if (step.kind === "rest") return { type: "Progressing", status: "False", reason: "AsWanted", message: "Everything is as wanted" };
  const reason = step.kind === "act" ? step.action[0]?.toUpperCase() + step.action.slice(1) : "Waiting";
  return { type: "Progressing", status: "True", reason, message: step.reason };
}

function degraded(seen: Seen, phase: Status["phase"], healthy: number): Wanted {
  if (seen.serviceTaken !== undefined) return { type: "Degraded", status: "True", reason: "ServiceNameTaken", message: `Service "${seen.serviceTaken}" belongs to somebody else` };
  if (seen.clusterIds.length > 1) return { type: "Degraded", status: "True", reason: "SplitBrain", message: `Members report the cluster IDs ${seen.clusterIds.join(", ")}` };
  if (phase === "Recovering") return { type: "Degraded", status: "True", reason: seen.quorum ? "MembersUnhealthy" : "NoQuorum", message: seen.quorum ? `${healthy} members answer` : "No quorum answers" };
  const alarms = seen.members.flatMap((member) => member.status?.errors ?? []);
  if (alarms.length > 0) return { type: "Degraded", status: "True", reason: "Alarm", message: alarms.join("; ") };
  return { type: "Degraded", status: "False", reason: "AllHealthy", message: "No member is known to be ill" };
}

function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
