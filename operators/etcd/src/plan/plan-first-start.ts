/** How a cluster starts for the first time: all initial members at once, or one seed on restored data. */
import { wait } from "setpoint";
import { volumeName } from "../kind/member-names.ts";
import { act, type Actions, electionMs, type EtcdStep, lookAgainMs, recheckMs } from "./etcd-step.ts";
import { initialMembers } from "../seen/initial-members.ts";
import { isClaimLeaving } from "./plan-restore.ts";
import { firstReason, podReason } from "../seen/pod-reason.ts";
import {
  failedAtOnce,
  isHealthy,
  isVolumeLeaving,
  podState,
  type PodState,
  type SeenMember,
  waitsForVolume,
} from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/**
 * All initial members start together with the same static list; a member that dies meanwhile is restarted as
 * it was.
 */
export function planFirstStart(seen: Situation): EtcdStep {
  const restored = planSeed(seen);
  if (restored !== undefined) return restored;
  const initial = initialMembers(seen);
  const missing: string[] = [];
  for (const name of initial) {
    const member = seen.members.find((each) => each.name === name);
    const state = podState(member?.pod);
    if (member !== undefined && failedAtOnce(member)) continue;
    const replaced = replacePod(seen, name, state);
    if (replaced !== undefined) return replaced;
    if (state === "missing" && (member === undefined || !isVolumeLeaving(member))) missing.push(name);
    else if (member !== undefined && waitsForVolume(seen, member) && member.recorded?.id === undefined) {
      const start = { member: name, initialCluster: initial, state: "new" } as const;
      return startAnew(member, start, `first start: the volume of ${name}`);
    }
  }
  if (missing.length > 0) {
    const reason = `first start: ${[...seen.servicesToApply, ...missing].join(", ")} of ${initial.length} members`;
    return act("startFounders", { members: missing, initialCluster: initial }, reason);
  }
  const silent = initial.filter((name) => !seen.members.some((each) => each.name === name && isHealthy(each)));
  return wait(
    silent.length === 0
      ? "first start: all members answer, and no quorum lists them yet"
      : `first start: waiting for ${silent.join(", ")} to join${firstReason(seen, silent)}`,
    silent.length === 0 ? 100 : 500,
  );
}

/** For a member whose claim was deleted before it held any data. */
export function startAnew(member: SeenMember, start: Actions["startMember"], subject: string): EtcdStep {
  return isVolumeLeaving(member)
    ? act("deletePod", { member: member.name }, `${subject} is being deleted, and held nothing yet`)
    : act("startMember", start, `${subject} is gone, and held nothing yet`);
}

/**
 * A pod that failed, or that has not started and has old settings, is deleted; the next pass creates it
 * again.
 */
function replacePod(seen: Situation, name: string, state: PodState): EtcdStep | undefined {
  if (state === "failed")
    return act(
      "deletePod",
      { member: name },
      `the pod of ${name} failed during the first start${podReason(seen, name)}`,
    );
  if (state === "starting" && seen.outdated.includes(name))
    return act(
      "deletePod",
      { member: name },
      `the pod of ${name} has not started, and the settings have changed since`,
    );
  return undefined;
}

/**
 * The first start on restored data; undefined for any other. The seed starts on the restored volume and on no
 * other, as a member that exists: on an empty volume it would begin an empty cluster, and the restore would
 * report success.
 */
function planSeed(seen: Situation): EtcdStep | undefined {
  const record = seen.cluster.status?.restore;
  if (record === undefined || record.back === true) return undefined;
  const [name = ""] = initialMembers(seen);
  const claim = seen.restore.current.find(({ metadata }) => metadata.name === volumeName(name));
  if (claim === undefined || isClaimLeaving(claim))
    return wait(
      `the volume with the data of restore ${record.id} was deleted; that Restore fails after its deadline`,
      recheckMs,
    );
  if (seen.servicesToApply.length > 0)
    return act("applyServices", {}, `Services ${seen.servicesToApply.join(" and ")} differ from the desired state`);
  const member = seen.members.find((each) => each.name === name) ?? { name };
  const state = podState(member.pod);
  if (failedAtOnce(member))
    return wait(`${name} failed as soon as it started on the restored data${podReason(seen, name)}`, lookAgainMs);
  const replaced = replacePod(seen, name, state);
  if (replaced !== undefined) return replaced;
  const reason = `${name} starts on the data of restore ${record.id}`;
  if (state !== "missing") return wait(`${reason}${podReason(seen, name)}`, electionMs);
  return act("startMember", { member: name, initialCluster: [name], state: "existing" }, reason);
}
