/** Repairs members that do not answer: started again on their volume, or removed and replaced; pure. */
import { isFenced } from "./fenced-members.ts";
import { act, type EtcdStep, isSilentTooLong } from "./etcd-step.ts";
import { startAnew } from "./plan-first-start.ts";
import { restart } from "./plan-quorum.ts";
import { planRefusedSettings } from "./plan-rollout.ts";
import type { Situation } from "./situation.ts";
import { podReason } from "../seen/pod-reason.ts";
import {
  failedAtOnce,
  failedAtOnceAgain,
  hasRefusedToRun,
  isHealthy,
  isVolumeLeaving,
  joinList,
  podState,
  type SeenMember,
  waitsForVolume,
} from "../seen/seen.ts";

export function planHealing(seen: Situation): EtcdStep | undefined {
  for (const member of seen.members) {
    if (member.listed === undefined || isHealthy(member) || isFenced(seen, member)) continue;
    const step = healMember(seen, member);
    if (step !== undefined) return step;
  }
  return undefined;
}

function healMember(seen: Situation, member: SeenMember): EtcdStep | undefined {
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
function isRestarted({ fencing }: Situation, member: SeenMember): boolean {
  if (fencing.fenced.length === 0 || member.volume === undefined || isVolumeLeaving(member)) return false;
  const state = podState(member.pod);
  return state === "failed" || (state === "running" && isSilentTooLong(member));
}

function healthyText(seen: Situation): string {
  const voters = seen.members.filter((each) => each.listed !== undefined && !each.listed.learner);
  return `${voters.filter(isHealthy).length} of ${voters.length} answer`;
}
