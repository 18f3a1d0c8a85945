/** How members that a user keeps stopped stop; pure. */
import { fencedText, fencingRefusalText } from "@setpoint/data-service";
import { wait } from "setpoint";
import { changeSteps, changeText } from "./change-plan.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import { quorumAnswers } from "./check.ts";
import { isFenced, needsQuorum } from "./fenced-members.ts";
import { quorumOf } from "./voters.ts";
import { heldRestore } from "./plan-restore.ts";
import { isHealthy, isLeader, podState, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/** Another member may have failed since the user's wish was accepted: that one is repaired first. */
function isSafe(seen: Situation, member: SeenMember): boolean {
  const voters = seen.members.filter(({ listed }) => listed?.learner === false);
  const others = voters.filter((each) => each.name !== member.name && !isFenced(seen, each) && isHealthy(each));
  return others.length >= quorumOf(voters.length) || !needsQuorum(seen, member);
}

/** Followers first; a leader hands over while there is a member to take over. */
export function planFencing(seen: Situation): EtcdStep | undefined {
  const running = seen.members.filter(
    (member) => isFenced(seen, member) && member.pod !== undefined && podState(member.pod) !== "terminating",
  );
  const next = running.find((member) => !isLeader(member)) ?? running[0];
  if (next === undefined || !isSafe(seen, next)) return undefined;
  const reason = `a user fenced ${next.name}: it stops, and keeps its volume and its membership`;
  const heir = seen.members.find(
    (member) => !isFenced(seen, member) && member.listed?.learner === false && isHealthy(member),
  );
  if (!seen.quorum || !isLeader(next) || heir?.listed === undefined)
    return act("fenceMember", { member: next.name, check: quorumAnswers(seen, next) }, reason);
  return act(
    "moveLeader",
    { from: next.name, to: heir.name, id: heir.listed.id },
    `${next.name} is going to be fenced and leads; ${heir.name} takes over before it stops`,
  );
}

/** A member fewer may fail, so nothing that stops or removes another one begins. */
export function planWhileFenced(seen: Situation): EtcdStep | undefined {
  const fenced = heldRestore(seen) ?? fencedText(seen.fencing);
  if (fenced === undefined) return undefined;
  const steps = changeSteps(seen);
  const held = steps.length === 0 ? undefined : `until then these steps wait: ${changeText(steps)}`;
  const parts = [fenced, held, fencingRefusalText(seen.fencing)].filter((text) => text !== undefined);
  return wait(parts.join("; "), recheckMs);
}
