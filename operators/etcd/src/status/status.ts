/** What the EtcdCluster's status says of a snapshot and the step that was decided; pure. */
import type { ConditionInit, StepFacts } from "setpoint";
import { refusalText } from "../kind/accepted-spec.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { compareVersions, fencingCondition, fencingRecord, planReport, versionReport } from "@setpoint/data-service";
import { etcdVersions } from "../kind/etcd-version.ts";
import { labels } from "../kind/member-names.ts";
import { clientServiceName } from "../resources/services.ts";
import { isHibernated } from "../plan/plan-hibernation.ts";
import { changeSteps, hasKnownSteps, leaderOf } from "../plan/change-plan.ts";
import { rootSecretName, wantsAuthentication } from "../resources/root-login.ts";
import { certificateSecret, clientRole } from "../resources/tls.ts";
import { degraded, isUpgrading, lostMembers } from "./degraded.ts";
import { endsQuorum, isFenced } from "../plan/fenced-members.ts";
import { initialMembers } from "../seen/initial-members.ts";
import type { EtcdStep } from "../plan/etcd-step.ts";
import { defragmentationRun, lastRequested, lastScheduled } from "../plan/plan-maintenance.ts";
import { slowDisks } from "../plan/plan-disks.ts";
import { quorumCondition, quorumRecord } from "./quorum-record.ts";
import { tuningRecord } from "./tuning-record.ts";
import { isFounded, isHealthy, isLeader, isServing, podState, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "../plan/situation.ts";

type Status = NonNullable<EtcdCluster["status"]>;

export function etcdStatus(seen: Situation, step: EtcdStep, facts: StepFacts): Omit<Status, "conditions"> {
  const { cluster } = seen;
  const members = seen.members.filter((member) => belongs(seen, member));
  const versions = seen.members.map((member) => member.status?.version).filter((version) => version !== undefined);
  const lost = lostMembers(seen);
  const restarting = restartingMember(seen, step);
  const run = defragmentationRun(seen, step, facts.now);
  const scheduled = lastScheduled(seen, run);
  const requested = lastRequested(seen, run);
  const currentVersion = versions.sort(compareVersions)[0] ?? cluster.status?.currentVersion;
  return {
    phase: phaseOf(seen, step, currentVersion),
    observedGeneration: cluster.metadata.generation,
    clusterID: cluster.status?.clusterID ?? (isFounded(seen) ? seen.clusterIds[0] : undefined),
    initialMembers: initialMembers(seen),
    size: members.length,
    readyMembers: members.filter((member) => isHealthy(member) && isServing(member)).length,
    leader: cluster.spec.dryRun ? leaderOf(seen) : seen.members.find(isLeader)?.name,
    currentVersion,
    targetVersion: seen.targetVersion,
    ...(seen.plan === undefined ? {} : { plan: seen.plan }),
    ...tlsStatus(seen),
    auth: authStatus(seen),
    serviceName: clientServiceName(cluster.metadata.name ?? ""),
    selector: `${labels.cluster}=${cluster.metadata.name ?? ""}`,
    members: members.map((member) => memberStatus(member, facts.now)),
    ...(lost.length === 0 ? {} : { lostMembers: lost }),
    ...(run === undefined ? {} : { defragmentation: run }),
    ...(requested === undefined ? {} : { lastRequestedDefragmentation: requested }),
    ...(scheduled === undefined ? {} : { lastScheduledDefragmentation: scheduled }),
    ...(restarting === undefined ? {} : { restarting }),
    ...plannedSteps(seen),
    slowDisks: slowDisks(seen, step, facts),
    fencing: fencingRecord(seen.fencing, cluster.status?.fencing, { now: facts.now, isStopped: isStopped(seen) }),
    tuning: tuningRecord(seen, facts),
    latestRevision: latestRevision(seen, step, facts),
    restore: cluster.status?.restore,
    stoppedFor: stoppedFor(seen),
    quorumRecovery: quorumRecord(seen, step, facts.now),
    waitingFor: waiting(cluster.status, step, facts),
  };
}

/** Absent when the members are not known. */
function plannedSteps(seen: Situation): Pick<Status, "plannedSteps"> {
  return seen.cluster.spec.dryRun && hasKnownSteps(seen) ? { plannedSteps: [...changeSteps(seen)] } : {};
}

function isStopped({ members }: Situation): (name: string) => boolean {
  return (name) => members.find((each) => each.name === name)?.pod === undefined;
}

/** The restore for which no member runs, so that its data may be exchanged. */
function stoppedFor({ restore: { mark }, members, givenUp, fencing }: Situation): string | undefined {
  if (mark?.state !== "stop" && mark?.state !== "waiting") return undefined;
  if (fencing.fenced.length > 0) return undefined;
  return [...members, ...givenUp].some(({ pod }) => pod !== undefined) ? undefined : mark.id;
}

/** From the step that stops it until it serves again, or is no member any more. */
function restartingMember(seen: Situation, step: EtcdStep): string | undefined {
  if (step.kind === "act" && step.action === "restartMember") return step.args.member;
  const name = seen.cluster.status?.restarting;
  const member = seen.members.find((each) => each.name === name);
  if (member === undefined || (seen.quorum && member.listed === undefined)) return undefined;
  return isHealthy(member) && isServing(member) && podState(member.pod) === "running" ? undefined : name;
}

/** At rest the revision alone is no reason to write; it counts again when something happens. */
function latestRevision(seen: Situation, step: EtcdStep, { now }: StepFacts): Status["latestRevision"] {
  const before = seen.cluster.status?.latestRevision;
  const { highestRevision: revision } = seen;
  const isNews = step.kind === "act" || !seen.quorum || before === undefined;
  if (revision === undefined || !isNews || revision === before?.revision) return before;
  return { revision, seen: now };
}

function tlsStatus({ cluster, certificates }: Situation): Pick<Status, "tls"> {
  if (certificates === undefined) return {};
  const { endsMs, authorityEndsMs } = certificates;
  return {
    tls: {
      clientSecret: certificateSecret(cluster.metadata.name ?? "", clientRole(cluster)),
      ...(endsMs === undefined ? {} : { certificatesEnd: new Date(endsMs).toISOString() }),
      ...(authorityEndsMs === undefined ? {} : { authorityEnds: new Date(authorityEndsMs).toISOString() }),
    },
  };
}

/** What was proven counts until an answer says otherwise. */
function authStatus({ cluster, authentication }: Situation): Status["auth"] {
  if (authentication === undefined) return wantsAuthentication(cluster) ? cluster.status?.auth : undefined;
  return authentication === "On" ? { rootSecret: rootSecretName(cluster.metadata.name ?? "") } : undefined;
}

/** Members by etcd's list; while nobody can say, those that we knew, and at the first start all. */
function belongs(seen: Situation, member: SeenMember): boolean {
  if (seen.quorum && isFounded(seen)) return member.listed !== undefined;
  return member.recorded !== undefined || member.pod !== undefined;
}

function memberStatus(member: SeenMember, now: string): Status["members"][number] {
  const healthy = isHealthy(member);
  return {
    name: member.name,
    id: member.listed?.id ?? member.status?.memberId ?? member.recorded?.id,
    version: member.status?.version,
    role: roleOf(member),
    healthy,
    unhealthySince: healthy ? undefined : (member.recorded?.unhealthySince ?? now),
  };
}

function roleOf(member: SeenMember): Status["members"][number]["role"] {
  if (member.listed?.learner === true || member.status?.learner === true) return "Learner";
  // Without a quorum nobody says so; a learner has no vote, and nobody goes on from one.
  if (member.status === undefined) return member.recorded?.role === "Learner" ? "Learner" : "Unknown";
  return isLeader(member) ? "Leader" : "Follower";
}

function phaseOf(seen: Situation, step: EtcdStep, currentVersion: string | undefined): Status["phase"] {
  const { cluster } = seen;
  if (cluster.spec.paused) return "Paused";
  if (seen.serviceTaken !== undefined || seen.clusterIds.length > 1) return "Failed";
  if (!isFounded(seen)) return seen.refusals.length > 0 ? "Failed" : "Creating";
  if (isHibernated(seen) && cluster.spec.volumeClaimTemplate !== undefined)
    return seen.members.some(({ pod }) => pod !== undefined) ? "Hibernating" : "Hibernated";
  const members = seen.members.filter((each) => each.listed !== undefined && !isFenced(seen, each));
  if (seen.fencing.fenced.length > 0 && (seen.quorum ? members.every(isHealthy) : endsQuorum(seen))) return "Fenced";
  if (
    !seen.quorum ||
    members.some((each) => !isHealthy(each) && each.listed?.learner === false && !isUpgrading(seen, each))
  )
    return "Recovering";
  // A removed member counts until its pod is gone: only then does a user see the resize as finished.
  const isLeaving = seen.members.some((each) => each.listed === undefined && each.pod !== undefined);
  if (isLeaving || members.length !== cluster.spec.size || members.some((each) => each.listed?.learner))
    return "Scaling";
  if (
    currentVersion !== seen.targetVersion ||
    restartingMember(seen, step) !== undefined ||
    (step.kind === "act" && (step.action === "upgradeMember" || step.action === "moveLeader"))
  )
    return "Upgrading";
  if (members.some((each) => !isServing(each))) return unfinished(cluster.status?.phase);
  return "Running";
}

/** Members that answer but whose pods are not ready yet finish what was going on; at rest it is a relapse. */
function unfinished(before: Status["phase"] | undefined): Status["phase"] {
  return before === undefined || before === "Running" || before === "Paused" || before === "Fenced"
    ? "Recovering"
    : before;
}

/** A next try that is further in the past than this is written again. More often would only add writes. */
const nextTryStaleMs = 10_000;
/** Something else must end what has lasted longer. Writing the next try again and again would never end. */
const nextTryMsMax = 60_000;

/** What is waited for; `since` stays while the subject stays, so that a person sees how long it takes. */
function waiting(previous: Status | undefined, step: EtcdStep, facts: StepFacts): Status["waitingFor"] {
  if (step.kind !== "wait") return undefined;
  const { now, nextTry = now } = facts;
  const same = previous?.waitingFor?.what === step.reason ? previous.waitingFor : undefined;
  const rule = step.rule === undefined ? {} : { rule: step.rule };
  if (same === undefined) return { what: step.reason, since: facts.since, nextTry, ...rule };
  const { what, since } = same;
  if (Date.parse(now) - Date.parse(since) > nextTryMsMax) return { what, since, ...rule };
  const stale = same.nextTry === undefined || Date.parse(now) - Date.parse(same.nextTry) > nextTryStaleMs;
  return stale ? { what, since, nextTry, ...rule } : same;
}

/** Available and Degraded; the runtime adds Progressing from the step. */
export function etcdConditions(seen: Situation, step: EtcdStep, facts: StepFacts): readonly ConditionInit[] {
  const founded = isFounded(seen);
  const available = seen.quorum && founded;
  const why = step.kind === "rest" ? "No quorum answers" : step.reason;
  const reason = isHibernated(seen) ? "Hibernated" : founded ? "NoQuorum" : "FirstStart";
  const { unreached } = seen;
  const silent: ConditionInit =
    unreached === undefined
      ? { type: "Available", status: "False", reason, message: why }
      : { type: "Available", status: "Unknown", reason: "MembersNotReached", message: unreached };
  return [
    available ? { type: "Available", status: "True", reason: "QuorumAnswers", message: "A quorum answers" } : silent,
    degraded(seen, phaseOf(seen, step, seen.cluster.status?.currentVersion), facts),
    quorumCondition(seen, facts),
    accepted(seen),
    maintained(seen, facts),
    planOffered(seen, facts),
    fencingCondition(seen.fencing),
  ];
}

/** Whether etcd's maintainers still care for the version that runs. */
function maintained({ cluster: { spec, status } }: Situation, { now }: StepFacts): ConditionInit {
  const version = status?.currentVersion ?? spec.version;
  const { state, message = `version ${version} is maintained` } = versionReport(etcdVersions, version, Date.parse(now));
  const isMaintained = state === "Available" || state === "Unknown";
  return { type: "VersionMaintained", status: isMaintained ? "True" : "False", reason: state, message };
}

/** Whether new clusters could have the plan too; a cluster keeps a plan that is no longer offered. */
function planOffered({ plan, plans = [] }: Situation, { now }: StepFacts): ConditionInit {
  const type = "PlanMaintained";
  if (plan === undefined) return { type, status: "True", reason: "NoPlan", message: "no plan is in force" };
  const { state, message } = planReport(plans, plan.name, Date.parse(now));
  const name = `plan "${plan.name}"`;
  if (state === "Available") return { type, status: "True", reason: state, message: message ?? `${name} is offered` };
  return {
    type,
    status: "False",
    reason: state,
    message: message ?? `${name} is no longer in the catalogue, and members keep its settings`,
  };
}

function accepted({ refusals, notices = [] }: Situation): ConditionInit {
  const all = "The operator accepts all fields";
  const message = notices.length === 0 ? all : `${all}; ${refusalText(notices)}`;
  if (refusals.length === 0) return { type: "Accepted", status: "True", reason: "Accepted", message };
  return { type: "Accepted", status: "False", reason: "FieldsRefused", message: refusalText(refusals) };
}
