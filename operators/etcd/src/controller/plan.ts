/**
 * Decides the next step for an etcd cluster. It is a pure function; a table of situations tests it. The order
 * of the checks is the policy: never act on two members at once, repair before resizing, resize before
 * upgrading, and touch the leader last.
 */
import { fencingRefusalText } from "@setpoint/data-service";
import { rest, wait } from "setpoint";
import { refusalText } from "../accepted-spec.ts";
import { act, electionMs, type EtcdStep, lookAgainMs, recheckMs, restUnlessRefused } from "./etcd-step.ts";
import { withCorruption } from "./corruption.ts";
import { changeSteps, changeText } from "./change-plan.ts";
import { planDisks, planUnreadyDisk } from "./plan-disks.ts";
import { isFenced, planFencing, planWhileFenced } from "./plan-fencing.ts";
import { planDefragmentation, planSpace } from "./plan-maintenance.ts";
import { isHibernated, planHibernation } from "./plan-hibernation.ts";
import { planAfterRecovery, planWithoutQuorum, restart } from "./plan-quorum.ts";
import { planFirstStart, startAnew } from "./plan-first-start.ts";
import { planRestore } from "./plan-restore.ts";
import { planRefusedSettings, planRollout, planSurplus } from "./plan-rollout.ts";
import { planVolumes } from "./plan-volumes.ts";
import { lostLoginText, refusedLoginText, rootSecretName } from "../resources/root-login.ts";
import { podReason } from "./pod-reason.ts";
import { podVersion } from "../resources/member-image.ts";
import {
  failedAtOnce,
  failedAtOnceAgain,
  hasRefusedToRun,
  isFounded,
  isHealthy,
  isLeader,
  isServing,
  isSilentTooLong,
  isVolumeLeaving,
  joinList,
  podState,
  type Seen,
  type SeenMember,
  waitsForVolume,
} from "./seen.ts";

/** How soon members that were not reached are asked again. */
const unreachedMs = 2_000;

export function plan(seen: Seen, nowMs: number): EtcdStep {
  if (seen.cluster.spec.paused)
    return rest(recheckMs, { reason: "Paused", message: "spec.paused is true, so nothing is changed" });
  const restoring = planRestore(seen);
  if (restoring !== undefined) return restoring;
  if (seen.serviceTaken !== undefined)
    return wait(
      `Service "${seen.serviceTaken}" belongs to another controller or user; rename the EtcdCluster or remove that Service`,
      recheckMs,
    );
  const founded = isFounded(seen);
  if (!founded && seen.refusals.length > 0) return wait(refusalText(seen.refusals), recheckMs);
  const certificates = planCertificates(seen, founded);
  if (certificates !== undefined) return certificates;
  // The very first step creates them together with the founders.
  if (seen.servicesToApply.length > 0 && (founded || seen.members.length > 0))
    return act("applyServices", {}, `Services ${seen.servicesToApply.join(" and ")} differ from the desired state`);
  const [misowned] = seen.misowned;
  if (misowned !== undefined)
    return act(
      "changeOwner",
      { member: misowned },
      `the volume of ${misowned} is not yet under deletionPolicy ${seen.cluster.spec.deletionPolicy}`,
    );
  const [mislabelled] = seen.mislabelled;
  if (mislabelled !== undefined)
    return act("restoreLabels", { member: mislabelled }, `the labels of ${mislabelled} differ from the desired state`);
  // No member reports its status, and with it a quorum, to a login that it refuses.
  const refused = seen.quorum ? undefined : planAuthentication(seen);
  if (refused !== undefined) return refused;
  // Nothing is known of the members, and they serve: each step could harm them.
  if (seen.unreached !== undefined) return wait(seen.unreached, unreachedMs);
  if (!founded) return planFirstStart(seen);
  if (seen.clusterIds.length > 1)
    return wait(
      `members belong to ${seen.clusterIds.length} different clusters (${seen.clusterIds.join(", ")}): a person must decide which one is right`,
      recheckMs,
    );
  const fencing = planFencing(seen);
  if (fencing !== undefined) return fencing;
  if (isHibernated(seen)) return planHibernation(seen);
  if (!seen.quorum) return withCorruption(seen, planWithoutQuorum(seen));
  return (
    planAuthentication(seen) ??
    planAfterRecovery(seen) ??
    planBudget(seen) ??
    planCleanup(seen) ??
    planHealing(seen) ??
    planLearners(seen) ??
    planUnreadyDisk(seen, nowMs) ??
    planWaitForHealth(seen) ??
    planWhileFenced(seen) ??
    planSpace(seen, nowMs) ??
    planDry(seen) ??
    planSize(seen) ??
    planDisks(seen, nowMs) ??
    planChanges(seen) ??
    withinWindow(seen, planDefragmentation(seen, nowMs)) ??
    planVolumes(seen) ??
    atRest(seen)
  );
}

/** Nothing to do. The status reports what was refused for as long as the spec has it. */
function atRest({ versionRefusal, certificates, fencing, refusals }: Seen): EtcdStep {
  const refusal = versionRefusal ?? fencingRefusalText(fencing) ?? certificates?.problem ?? certificates?.due.blocked;
  return refusal === undefined ? restUnlessRefused(refusals) : wait(refusal, recheckMs);
}

/** Certificates are needed before the first pod, and are renewed whatever else is going on. */
function planCertificates({ certificates }: Seen, founded: boolean): EtcdStep | undefined {
  if (certificates?.due.step !== undefined) return act("maintainCertificates", {}, certificates.due.why);
  if (certificates?.problem === undefined || founded) return undefined;
  return wait(certificates.problem, recheckMs);
}

/** Before everything that a cluster with authentication refuses to a client without a login. */
function planAuthentication({ authentication, cluster, isRootMissing = false }: Seen): EtcdStep | undefined {
  const { name = "" } = cluster.metadata;
  if (authentication === "On" && isRootMissing)
    return act("restoreRootSecret", {}, `Secret "${rootSecretName(name)}" is gone, and etcd accepts the login it had`);
  if (authentication === "Off" && cluster.spec.dryRun) return undefined;
  if (authentication === "Off")
    return act("enableAuthentication", {}, "clients need no login yet, and spec.auth.enabled is true");
  if (authentication !== "Refused") return undefined;
  if (cluster.spec.tls?.mode === "Enabled")
    return act("enableAuthentication", {}, refusedLoginText(name, isRootMissing));
  return wait(lostLoginText(name, isRootMissing), recheckMs);
}

/** Orphaned pods and volumes: what a removal or a crash between two steps left behind. */
function planCleanup(seen: Seen): EtcdStep | undefined {
  for (const member of seen.members) {
    if (member.listed !== undefined) continue;
    if (member.pod !== undefined && podState(member.pod) !== "terminating")
      return act("deletePod", { member: member.name }, `${member.name} is not a member of etcd any more`);
    if (isOlder(member, seen)) continue;
    if (member.pod === undefined && member.volume !== undefined && !isVolumeLeaving(member))
      return act(
        "deleteVolume",
        { member: member.name },
        `the volume of ${member.name}, which is not a member any more, holds nothing of use`,
      );
  }
  return undefined;
}

/** A user gave the cluster a volume that is older than it; only a user deletes it. */
function isOlder({ volume }: SeenMember, { cluster }: Seen): boolean {
  const madeAt = Date.parse(volume?.metadata.creationTimestamp ?? "");
  return madeAt < Date.parse(cluster.metadata.creationTimestamp ?? "");
}

function planHealing(seen: Seen): EtcdStep | undefined {
  for (const member of seen.members) {
    if (member.listed === undefined || isHealthy(member) || isFenced(seen, member)) continue;
    const step = healMember(seen, member);
    if (step !== undefined) return step;
  }
  return undefined;
}

function healMember(seen: Seen, member: SeenMember): EtcdStep | undefined {
  const { listed, name } = member;
  if (listed === undefined) return undefined;
  const state = podState(member.pod);
  if (state === "terminating") return undefined;
  // Added, never started: the operator crashed or lost the answer between the addition and the pod. Founders
  // may have voted before.
  const heldNothing = listed.learner && !listed.started;
  const start = { member: name, initialCluster: joinList(seen, name), state: "existing" } as const;
  // Its settings may be the reason why it does not start.
  if (state === "starting" && seen.outdated.includes(name) && (heldNothing || member.volume !== undefined))
    return act(
      "deletePod",
      { member: name },
      `the pod of ${name} has not started, and the settings have changed since`,
    );
  if (state === "missing" && heldNothing)
    return isVolumeLeaving(member)
      ? undefined
      : act("startMember", start, `${name} was added to etcd and has no pod yet`);
  if (waitsForVolume(seen, member) && heldNothing) return startAnew(member, start, `the volume of ${name}`);
  if (waitsForVolume(seen, member))
    return act(
      "removeMember",
      { member: name, id: listed.id },
      `the volume of ${name} is gone with its data, quorum is safe: ${healthyText(seen)}`,
    );
  if (state === "missing" && member.volume !== undefined && !isVolumeLeaving(member))
    return act("startMember", restart(member), `the pod of ${name} is gone, its volume is not: it comes back on it`);
  if (seen.cluster.status?.restarting === name && hasRefusedToRun(member.pod)) return planRefusedSettings(seen, member);
  if (isRestarted(seen, member))
    return failedAtOnce(member)
      ? undefined
      : act(
          "deletePod",
          { member: name },
          `${name} ${state === "failed" ? "failed" : "does not answer"}, ${restartText}`,
        );
  if (failedAtOnceAgain(member)) return undefined;
  if (state === "failed" || state === "missing")
    return act(
      "removeMember",
      { member: name, id: listed.id },
      `the pod of ${name} ${state === "failed" ? "failed" : "is gone"}${podReason(seen, name)}, quorum is safe: ${healthyText(seen)}`,
    );
  if (state === "running" && isSilentTooLong(member))
    return act(
      "removeMember",
      { member: name, id: listed.id },
      `${name} has not answered since ${member.recorded?.unhealthySince}, quorum is safe: ${healthyText(seen)}`,
    );
  return undefined;
}

const restartText =
  "and etcd adds no member in its place while another one is fenced: it is started again on its volume";

/** etcd adds members only while all voters are connected, so a removed one would not be replaced. */
function isRestarted({ fencing }: Seen, member: SeenMember): boolean {
  if (fencing.fenced.length === 0 || member.volume === undefined || isVolumeLeaving(member)) return false;
  const state = podState(member.pod);
  return state === "failed" || (state === "running" && isSilentTooLong(member));
}

function healthyText(seen: Seen): string {
  const voters = seen.members.filter((each) => each.listed !== undefined && !each.listed.learner);
  return `${voters.filter(isHealthy).length} of ${voters.length} answer`;
}

/** A learner is promoted when it has 90 % of the leader's log; etcd checks that again. */
function planLearners(seen: Seen): EtcdStep | undefined {
  const learner = seen.members.find((each) => each.listed?.learner === true);
  if (learner?.listed === undefined || isFenced(seen, learner)) return undefined;
  const leader = seen.members.find(isLeader);
  if (learner.status === undefined)
    return wait(`learner ${learner.name} has not started${podReason(seen, learner.name)}`, 500);
  if (leader?.status === undefined) return wait("no member says that it is the leader", 500);
  if (learner.status.raftIndex < leader.status.raftIndex * 0.9)
    return wait(
      `learner ${learner.name} has ${learner.status.raftIndex} of ${leader.status.raftIndex} log entries`,
      500,
    );
  return act("promote", { member: learner.name, id: learner.listed.id }, `learner ${learner.name} is in sync`);
}

/** Every later step needs all members healthy; of those that a user fenced nobody expects it. */
function planWaitForHealth(seen: Seen): EtcdStep | undefined {
  const awaited = seen.members.filter((each) => each.listed !== undefined && !isFenced(seen, each));
  const sick = awaited.find((each) => !isHealthy(each));
  if (sick !== undefined) return wait(`member ${sick.name} does not answer${podReason(seen, sick.name)}`, 500);
  const notServing = awaited.find((each) => each.listed?.learner === false && !isServing(each));
  if (notServing !== undefined)
    return wait(`the pod of ${notServing.name} is not ready${podReason(seen, notServing.name)}`, lookAgainMs);
  const leaving = awaited.find((each) => podState(each.pod) === "terminating");
  return leaving === undefined ? undefined : wait(`the pod of ${leaving.name} is stopping`, lookAgainMs);
}

function planSize(seen: Seen): EtcdStep | undefined {
  const voters = seen.members.filter((each) => each.listed !== undefined);
  const size: number = seen.cluster.spec.size;
  if (voters.length < size) return act("addLearner", {}, `${voters.length} members, ${size} wanted`);
  if (voters.length === size) return undefined;
  const leaving = seen.members.find((each) => each.listed === undefined && each.pod !== undefined);
  if (leaving !== undefined) return wait(`the pod of ${leaving.name}, which was removed, is stopping`, electionMs);
  return planSurplus(seen, voters) ?? wait("no member but the leader could be removed", lookAgainMs);
}

/**
 * A member that restarts on its volume gets the new version with it; without volumes an upgrade restarts it
 * in place.
 */
function planChanges(seen: Seen): EtcdStep | undefined {
  const step =
    seen.cluster.spec.volumeClaimTemplate === undefined
      ? (planUpgrade(seen) ?? planRollout(seen))
      : (planRollout(seen) ?? planUpgrade(seen));
  return withinWindow(seen, step);
}

/** What has begun with one member is finished; the next member waits. */
function withinWindow({ closed }: Seen, step: EtcdStep | undefined): EtcdStep | undefined {
  return step?.kind === "act" && closed !== undefined ? wait(`${step.reason}; ${closed}`, recheckMs) : step;
}

/** Nothing that only the spec asks for is done in a dry run. */
function planDry(seen: Seen): EtcdStep | undefined {
  if (!seen.cluster.spec.dryRun) return undefined;
  const steps = changeSteps(seen);
  return steps.length === 0
    ? undefined
    : wait(`dry run, set spec.dryRun to false to do it: ${changeText(steps)}`, recheckMs);
}

/** It follows from the size, which a dry run leaves as it is. */
function planBudget({ needsBudget, cluster }: Seen): EtcdStep | undefined {
  return needsBudget && !cluster.spec.dryRun
    ? act("applyBudget", {}, "the PodDisruptionBudget differs from the desired state")
    : undefined;
}

function planUpgrade(seen: Seen): EtcdStep | undefined {
  const members = seen.members.filter((each) => each.listed !== undefined);
  const restarting = members.find(
    (each) => podVersion(each.pod) === seen.targetVersion && each.status?.version !== seen.targetVersion,
  );
  if (restarting !== undefined)
    return wait(
      `member ${restarting.name} is being restarted with ${seen.targetVersion} and still answers as ${restarting.status?.version}${podReason(seen, restarting.name)}`,
      250,
    );
  const old = members.filter((each) => podVersion(each.pod) !== seen.targetVersion);
  const follower = old.find((each) => !isLeader(each));
  if (follower !== undefined)
    return act(
      "upgradeMember",
      { member: follower.name, version: seen.targetVersion },
      `${follower.name} runs ${podVersion(follower.pod)}, expected ${seen.targetVersion}; followers first`,
    );
  const leader = old[0];
  if (leader === undefined) return undefined;
  const heir = members.find((each) => each.name !== leader.name && each.listed?.learner === false);
  if (heir?.listed !== undefined)
    return act(
      "moveLeader",
      { from: leader.name, to: heir.name, id: heir.listed.id },
      `${leader.name} is the last with ${podVersion(leader.pod)} and leads; ${heir.name} takes over before it restarts`,
    );
  return act(
    "upgradeMember",
    { member: leader.name, version: seen.targetVersion },
    `${leader.name} is the only member`,
  );
}
