/** Brings changes of version and settings to members, one at a time, the leader last; pure. */
import { wait } from "setpoint";
import { podVersion } from "../resources/member-image.ts";
import { podReason } from "../seen/pod-reason.ts";
import { isLeader } from "../seen/seen.ts";
import { changeSteps, changeText } from "./change-plan.ts";
import { othersAnswer } from "./check.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import { planRollout } from "./plan-rollout.ts";
import type { Situation } from "./situation.ts";

/**
 * A member that restarts on its volume gets the new version with it; without volumes an upgrade restarts it
 * in place.
 */
export function planChanges(seen: Situation): EtcdStep | undefined {
  return seen.cluster.spec.volumeClaimTemplate === undefined
    ? (planUpgrade(seen) ?? planRollout(seen))
    : (planRollout(seen) ?? planUpgrade(seen));
}

/** What has begun with one member is finished; the next member waits. */
export function withinWindow({ closed }: Situation, step: EtcdStep | undefined): EtcdStep | undefined {
  return step?.kind === "act" && closed !== undefined ? wait(`${step.reason}; ${closed}`, recheckMs) : step;
}

/** Nothing that only the spec asks for is done in a dry run. */
export function planDry(seen: Situation): EtcdStep | undefined {
  if (!seen.cluster.spec.dryRun) return undefined;
  const steps = changeSteps(seen);
  return steps.length === 0
    ? undefined
    : wait(`dry run, set spec.dryRun to false to do it: ${changeText(steps)}`, recheckMs);
}

function planUpgrade(seen: Situation): EtcdStep | undefined {
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
      { member: follower.name, version: seen.targetVersion, check: othersAnswer(seen, follower.name) },
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
    { member: leader.name, version: seen.targetVersion, check: othersAnswer(seen, leader.name) },
    `${leader.name} is the only member`,
  );
}
