/**
 * The whole way from what is seen to what the spec wants, before anything of it happens; pure. `plan` takes
 * one step at a time and looks again; this says which steps follow from the present state.
 */
import { podVersion } from "../resources/member-image.ts";
import { wantsAuthentication } from "../resources/root-login.ts";
import { isAsleep } from "./plan-hibernation.ts";
import { isFounded, isLeader, isServing, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/** One step of a change, as the status shows it. */
export interface ChangeStep {
  readonly action:
    | ("AddMember" | "RemoveMember" | "SwitchLeader" | "RestartMember" | "ReplaceMember" | "GrowVolume")
    | ("EnableAuthentication" | "StopMembers" | "StartMembers");
  readonly member?: string;
  readonly reason: string;
  /** What clients notice. */
  readonly interruption: string;
  /** Why there is no way back after this step. */
  readonly noReturn?: string;
}

const none = "none";
const oneFewer = "none; while it restarts, one member fewer may fail";
/** Measured: a hand-over takes less than an election, which lasts one to two seconds. */
const handOver = "writes wait for less than 1 s";
const asleep = "reads and writes fail until spec.hibernated is false again";
const onlyMember = "reads and writes fail until it serves again, some seconds";

/** In order. Repairs are no part of it: they follow from what breaks. */
export function changeSteps(seen: Situation): readonly ChangeStep[] {
  const { hibernated } = seen.cluster.spec;
  if (isAsleep(seen)) return hibernated ? [] : [startStep];
  if (hibernated) return [stopStep(seen)];
  const members = plannedMembers(seen);
  return [
    ...(isAuthenticationOff(seen) ? [authenticationStep] : []),
    ...sizeSteps(seen, members),
    ...restartSteps(seen, members),
    ...volumeSteps(seen),
  ];
}

/** Whether the members of the cluster are known, so that its steps can be. */
export function hasKnownSteps(seen: Situation): boolean {
  const isKnown = seen.quorum || isAsleep(seen) || plannedMembers(seen).every(isServing);
  return isFounded(seen) && isKnown && (isAsleep(seen) || plannedMembers(seen).length > 0);
}

/**
 * By etcd's list. Where this process cannot reach the members, as on a user's machine, those that the status
 * records.
 */
function plannedMembers({ quorum, members }: Situation): readonly SeenMember[] {
  return members.filter(({ listed, recorded }) => (quorum ? listed : recorded) !== undefined);
}

/** Of members that do not answer, the status records that it is on. */
function isAuthenticationOff({ authentication, cluster }: Situation): boolean {
  if (authentication !== undefined) return authentication === "Off";
  return wantsAuthentication(cluster) && cluster.status?.auth === undefined;
}

/** Of members that do not answer, the status records the leader. */
export function leaderOf({ quorum, members, cluster }: Situation): string | undefined {
  return quorum ? members.find(isLeader)?.name : (members.find(isLeader)?.name ?? cluster.status?.leader);
}

const startStep: ChangeStep = {
  action: "StartMembers",
  reason: "the cluster wakes; other changes follow, and are planned when it serves",
  interruption: "none; reads and writes work again when a leader is elected",
};

const authenticationStep: ChangeStep = {
  action: "EnableAuthentication",
  reason: "clients need no login yet, and spec.auth.enabled is true",
  interruption: "clients without a login are refused from now on",
  noReturn: "authentication cannot be turned off: every client would get all data",
};

function stopStep({ cluster: { spec } }: Situation): ChangeStep {
  const action = "StopMembers";
  return spec.volumeClaimTemplate === undefined
    ? { action, reason: "refused: members keep their data in their pods, and would lose them", interruption: none }
    : { action, reason: "the cluster hibernates, and keeps its volumes", interruption: asleep };
}

function sizeSteps(seen: Situation, members: readonly SeenMember[]): readonly ChangeStep[] {
  const { size } = seen.cluster.spec;
  const reason = `${members.length} members, ${size} wanted`;
  const added = Array.from({ length: Math.max(0, size - members.length) }, (): ChangeStep => {
    return { action: "AddMember", reason: `${reason}: a learner gets all data, then votes`, interruption: none };
  });
  const leaving = leavingMembers(leaderOf(seen), members, members.length - size);
  const removed = leaving.map(({ name }): ChangeStep => {
    const noReturn = `the data of ${name} are deleted; the other members have them`;
    return { action: "RemoveMember", member: name, reason, interruption: none, noReturn };
  });
  return [...added, ...removed];
}

function leavingMembers(
  leader: string | undefined,
  members: readonly SeenMember[],
  count: number,
): readonly SeenMember[] {
  const removable = members.filter(({ name }) => name !== leader).toSorted((a, b) => (a.name < b.name ? 1 : -1));
  return removable.slice(0, Math.max(0, count));
}

/** Followers first; the leader hands over before its turn. */
function restartSteps(seen: Situation, members: readonly SeenMember[]): readonly ChangeStep[] {
  const leader = leaderOf(seen);
  const isLast = ({ name }: SeenMember): boolean => name === leader;
  const leaving = new Set(
    leavingMembers(leader, members, members.length - seen.cluster.spec.size).map(({ name }) => name),
  );
  const changed = members.filter((member) => !leaving.has(member.name) && reasonsOf(seen, member).length > 0);
  const ordered = [...changed.filter((each) => !isLast(each)), ...changed.filter(isLast)];
  return ordered.flatMap((member, index) => {
    const isOnly = members.length - leaving.size === 1;
    const first = isLast(member) && !isOnly ? [switchStep(member)] : [];
    return [...first, restartStep(seen, member, isOnly, index === 0)];
  });
}

function switchStep({ name }: SeenMember): ChangeStep {
  return { action: "SwitchLeader", member: name, reason: `${name} leads, and restarts last`, interruption: handOver };
}

function restartStep(seen: Situation, member: SeenMember, isOnly: boolean, isFirst: boolean): ChangeStep {
  const isReplaced = seen.cluster.spec.volumeClaimTemplate === undefined && seen.outdated.includes(member.name);
  const isUpgraded = isFirst && podVersion(member.pod) !== seen.targetVersion;
  const step = {
    member: member.name,
    reason: reasonsOf(seen, member).join(", "),
    ...(isUpgraded ? { noReturn: "etcd cannot be downgraded; restore a backup into a new cluster instead" } : {}),
  };
  if (isReplaced) return { action: "ReplaceMember", ...step, interruption: none };
  return { action: "RestartMember", ...step, interruption: isOnly ? onlyMember : oneFewer };
}

function reasonsOf({ targetVersion, outdated }: Situation, { name, pod }: SeenMember): readonly string[] {
  const version = podVersion(pod);
  const isUpgrade = version !== undefined && version !== targetVersion;
  return [
    ...(isUpgrade ? [`version ${version} becomes ${targetVersion}`] : []),
    ...(outdated.includes(name) ? ["settings of plan, pod and options have changed"] : []),
  ];
}

function volumeSteps({ small, cluster }: Situation): readonly ChangeStep[] {
  const storage = cluster.spec.volumeClaimTemplate?.resources.requests.storage;
  return small.map((member) => {
    const noReturn = "a volume cannot shrink";
    return { action: "GrowVolume", member, reason: `the volume becomes ${storage}`, interruption: none, noReturn };
  });
}

/** One line a step, for people. */
export function changeText(steps: readonly ChangeStep[]): string {
  return steps
    .map(({ action, member }, index) => `${index + 1}. ${action}${member === undefined ? "" : ` ${member}`}`)
    .join("; ");
}
