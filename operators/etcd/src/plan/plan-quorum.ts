/**
 * What to do without a quorum: wait for one, restart members on their volumes, or go on from one survivor.
 */
import { fencedText } from "@setpoint/data-service";
import { wait } from "setpoint";
import { recoveryToken, wasForced } from "../resources/given-up-members.ts";
import { copiesFirst, copyProblem } from "../resources/survivor-copy.ts";
import { act, type Actions, electionMs, type EtcdStep, lookAgainMs, recheckMs, isSilentTooLong } from "./etcd-step.ts";
import { isFenced } from "./fenced-members.ts";
import { firstReason, podReason } from "../seen/pod-reason.ts";
import { chosenSurvivor, hindrance, type QuorumLoss, quorumLoss } from "./quorum-loss.ts";
import { isMember, quorumOf } from "./voters.ts";
import { consentText, lossText } from "./quorum-text.ts";
import { failedAtOnce, isVolumeLeaving, podState, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/**
 * Without a quorum no member may be added or removed. While enough members have survived to elect a leader,
 * they get the time to do it. Otherwise every member that still has its volume is restarted on it, also when
 * fewer would make a quorum: the rest would have to be replaced, with all their data copied. Only a majority
 * that is lost for good ends this, by the cluster's policy.
 */
export function planWithoutQuorum(seen: Situation): EtcdStep {
  if (seen.cluster.status?.quorumRecovery?.state === "Recovering") return planRecovery(seen);
  const loss = quorumLoss(seen);
  const survivor = chosenSurvivor(seen, loss);
  return survivor === undefined ? planRestarts(seen, loss) : startRecovery(seen, survivor);
}

function planRestarts(seen: Situation, loss: QuorumLoss | undefined): EtcdStep {
  const members = seen.members.filter(isMember);
  const answering = members.filter((member) => member.status !== undefined).length;
  const coming = members.filter((member) => ["starting", "running"].includes(podState(member.pod))).length;
  const survivors = members.filter((member) => podState(member.pod) === "running").length;
  const quorum = quorumOf(members.length);
  const said = `no quorum: ${answering} of ${members.length} members answer`;
  if (survivors >= quorum && !members.some((member) => isSilentTooLong(member)))
    return wait(`${said}; ${survivors} run and can elect a leader`, electionMs);
  for (const member of members.filter((each) => !isFenced(seen, each))) {
    const step = restartOnVolume(member, said);
    if (step !== undefined) return step;
  }
  if (loss !== undefined) return wait(`${lossText(seen, loss)}; ${consentText(seen, loss)}`, recheckMs);
  const fenced = fencedText(seen.fencing);
  if (fenced !== undefined) return wait(`${said}; ${fenced}`, lookAgainMs);
  const leaving = members.filter((member) => podState(member.pod) === "terminating").length;
  const { fencingSeconds } = seen.cluster.spec.quorumRecovery;
  const pausing = members.filter(failedAtOnce).map(({ name }) => name);
  if (pausing.length > 0)
    return wait(
      `${said}; failed right after the start: ${pausing.join(", ")}; each is started again on its volume${firstReason(seen, pausing)}`,
      lookAgainMs,
    );
  const outlook =
    coming + leaving < quorum
      ? `: too few members can come back by themselves; those that are silent for ${fencingSeconds} s count as lost`
      : "";
  return wait(`${said}${outlook}`, lookAgainMs);
}

function restartOnVolume(member: SeenMember, said: string): EtcdStep | undefined {
  const { name } = member;
  if (failedAtOnce(member) || member.volume === undefined || isVolumeLeaving(member)) return undefined;
  const state = podState(member.pod);
  if (state === "failed")
    return act("deletePod", { member: name }, `${said}; ${name} failed and is started again on its volume`);
  if (state === "missing")
    return act("startMember", restart(member), `${said}; ${name} is started again on its volume`);
  return undefined;
}

export function restart(member: SeenMember): Actions["startMember"] {
  return { member: member.name, initialCluster: [member.name], state: "existing" };
}

/** The first step of a recovery. The status names the survivor before this is done. */
function startRecovery(seen: Situation, survivor: SeenMember): EtcdStep {
  const others = seen.members.filter(({ name }) => name !== survivor.name);
  return planGivenUp({ ...seen, givenUp: others }, survivor.name) ?? planSurvivor(seen, survivor);
}

/** The survivor is chosen, and the status says so: nothing changes that choice. */
function planRecovery(seen: Situation): EtcdStep {
  const name = seen.cluster.status?.quorumRecovery?.survivor ?? "";
  return planGivenUp(seen, name) ?? planSurvivor(seen, seen.members.find((each) => each.name === name) ?? { name });
}

/**
 * Stops all others and waits until their nodes say that they have stopped: two halves must never both serve.
 */
function planGivenUp(seen: Situation, survivor: string): EtcdStep | undefined {
  const token = recoveryToken(seen.cluster);
  for (const member of seen.givenUp) {
    const isRunning = member.pod !== undefined && podState(member.pod) !== "terminating";
    const isUnmarked = member.volume !== undefined && !isVolumeLeaving(member) && !member.isMarked;
    if (isRunning || isUnmarked)
      return act(
        "giveUpMember",
        { member: member.name, token },
        `the cluster goes on from ${survivor}: ${member.name} is stopped and never comes back, its volume is kept`,
      );
  }
  const stopping = seen.givenUp.find(({ pod }) => pod !== undefined);
  if (stopping === undefined) return undefined;
  const node = stopping.pod?.spec?.nodeName ?? "none";
  return wait(
    `the pod of ${stopping.name} has not stopped yet; if its node (${node}) is gone, delete that Node or the pod by force`,
    lookAgainMs,
  );
}

/** Restarts the survivor on its volume with the flag that makes it the only member. */
function planSurvivor(seen: Situation, member: SeenMember): EtcdStep {
  const { name } = member;
  const problem = hindrance(seen, member);
  if (problem !== undefined) return wait(problem, recheckMs);
  const token = recoveryToken(seen.cluster);
  const state = podState(member.pod);
  if (state === "missing")
    return act(
      "startAlone",
      { member: name, token, gone: seen.givenUp.map((each) => each.name) },
      `${name} starts alone on its volume, with --force-new-cluster${seen.cluster.spec.quorumRecovery.withoutCopy ? "" : ", after a copy of its data"}`,
    );
  if (state === "terminating") return wait(`${name} stops before it starts alone`, electionMs);
  if (state === "failed" && copyProblem(member.pod) !== undefined) return planWithoutCopy(seen, member);
  if (state === "failed" && failedAtOnce(member))
    return wait(`${name} failed as soon as it started alone${podReason(seen, name)}`, lookAgainMs);
  if (state === "failed")
    return act(
      "deletePod",
      { member: name },
      `the pod of ${name} failed while it started alone${podReason(seen, name)}`,
    );
  if (wasForced(member.pod))
    return wait(
      state === "starting" && copiesFirst(member.pod)
        ? `${name} starts alone after a copy of its data is made`
        : `${name} starts alone`,
      electionMs,
    );
  return act("deletePod", { member: name }, `${name} stops before it starts alone on its volume`);
}

/** The copy could not be made: it is tried again, unless the user does without. */
function planWithoutCopy(seen: Situation, { name, pod, failedForMs = 0 }: SeenMember): EtcdStep {
  const problem = `the data of ${name} could not be copied: ${copyProblem(pod)}`;
  if (seen.cluster.spec.quorumRecovery.withoutCopy)
    return act("deletePod", { member: name }, `${problem}; spec.quorumRecovery.withoutCopy allows to go on`);
  if (failedForMs > copyRetryMs) return act("deletePod", { member: name }, `${problem}; it is tried again`);
  return wait(
    `${problem}; the data are unchanged. Make room on the volume, or set spec.quorumRecovery.withoutCopy to true to go on without a way back`,
    lookAgainMs,
  );
}

/** How long a copy that failed is reported before another try. */
const copyRetryMs = 60_000;

/** With a quorum, those that were given up stay away, and the survivor starts as an ordinary member. */
export function planAfterRecovery(seen: Situation): EtcdStep | undefined {
  const running = seen.givenUp.find(({ pod }) => pod !== undefined && podState(pod) !== "terminating");
  if (running !== undefined)
    return act(
      "giveUpMember",
      { member: running.name, token: recoveryToken(seen.cluster) },
      `${running.name} was given up when the quorum was lost and must not come back`,
    );
  const forced = seen.members.find(({ pod }) => wasForced(pod));
  if (forced === undefined) return undefined;
  if (podState(forced.pod) === "terminating")
    return wait(`${forced.name}, which was started alone, stops before it starts as an ordinary member`, electionMs);
  return act(
    "deletePod",
    { member: forced.name },
    `${forced.name} leads its cluster alone; it starts again without --force-new-cluster`,
  );
}
