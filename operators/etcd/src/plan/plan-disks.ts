/** A member whose disk is slow is named, and where the spec allows it, another one takes its place; pure. */
import type { StepFacts } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { act, type EtcdStep } from "./etcd-step.ts";
import { planSurplus } from "./plan-rollout.ts";
import { isHealthy, isServing, podState, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

type SlowDisks = NonNullable<NonNullable<EtcdCluster["status"]>["slowDisks"]>;

/** Each replacement copies all data; more often it would be the load that makes disks slow. */
const replacementPauseMs = 3_600_000;
/** With fewer there is no majority to compare with. */
const votersMin = 3;

/** The place of one member whose disk is slow is taken by a learner; `planSurplus` removes it afterwards. */
export function planDisks(seen: Situation, nowMs: number): EtcdStep | undefined {
  const { spec, status } = seen.cluster;
  if (spec.healing.slowDisk !== "replace" || spec.dryRun) return undefined;
  const replacing = seen.members.find(
    ({ name, listed }) => listed !== undefined && name === status?.slowDisks?.replacing,
  );
  // etcd refused the learner at first, or the operator ended between the record and the step.
  if (replacing !== undefined) return replace(seen, replacing);
  const last = Date.parse(status?.slowDisks?.lastReplacement ?? "");
  if (nowMs - last < replacementPauseMs) return undefined;
  const slow = onlySlow(seen);
  return slow === undefined ? undefined : replace(seen, slow);
}

/**
 * A disk can be so slow that its member's pod is not ready. That pod is not waited for: all other members
 * serve, and it is the one to replace.
 */
export function planUnreadyDisk(seen: Situation, nowMs: number): EtcdStep | undefined {
  const listed = seen.members.filter((each) => each.listed !== undefined);
  const [unready, ...more] = listed.filter((each) => !isHealthy(each) || !isServing(each));
  if (unready === undefined || more.length > 0 || seen.fencing.fenced.length > 0) return undefined;
  const isReplaced = unready.name === seen.cluster.status?.slowDisks?.replacing;
  if (isReplaced && listed.length > seen.cluster.spec.size) return planSurplus(seen, listed);
  return isReplaced || onlySlow(seen)?.name === unready.name ? planDisks(seen, nowMs) : undefined;
}

function replace(seen: Situation, slow: SeenMember): EtcdStep {
  const node = slow.pod?.spec?.nodeName ?? "none";
  return act(
    "addLearner",
    { replaces: slow.name },
    `${slowText(seen, slow.name)}: a new member on another node than ${node} takes its place`,
  );
}

/** The one whose disk is slow while all others are known to be well. */
function onlySlow({ cluster, members, disks }: Situation): SeenMember | undefined {
  const voters = members.filter(({ listed }) => listed?.learner === false);
  const named = cluster.status?.slowDisks?.members.map(({ name }) => name) ?? [];
  const [slow, ...more] = voters.filter(({ name }) => named.includes(name) && (disks?.get(name)?.slowForMs ?? 0) > 0);
  if (slow === undefined || more.length > 0 || voters.length < votersMin) return undefined;
  const others = voters.filter(({ name }) => name !== slow.name).map(({ name }) => disks?.get(name));
  return others.every((each) => each?.p99Ms !== undefined && each.slowForMs === 0) ? slow : undefined;
}

/** What the status records, with the step that is taken. */
export function slowDisks(seen: Situation, step: EtcdStep, { now }: StepFacts): SlowDisks | undefined {
  const before = seen.cluster.status?.slowDisks;
  const members = slowMembers(seen, before, now);
  const begun = step.kind === "act" && step.action === "addLearner" ? step.args.replaces : undefined;
  const isGoing = seen.cluster.spec.healing.slowDisk === "replace" && isThere(seen, before?.replacing);
  const going = isGoing ? before?.replacing : undefined;
  const replacing = begun ?? going;
  const lastReplacement = begun === undefined ? before?.lastReplacement : now;
  if (members.length === 0 && lastReplacement === undefined) return undefined;
  return {
    members,
    ...(replacing === undefined ? {} : { replacing }),
    ...(lastReplacement === undefined ? {} : { lastReplacement }),
  };
}

function isThere({ members, quorum }: Situation, name: string | undefined): boolean {
  return !quorum || members.some((each) => each.name === name && each.listed !== undefined);
}

/** One that was named stays so until its disk is known to be well, also in a new process of the operator. */
function slowMembers(seen: Situation, before: SlowDisks | undefined, now: string): SlowDisks["members"] {
  const afterMs = seen.cluster.spec.healing.slowDiskSeconds * 1_000;
  return seen.members.flatMap(({ name }) => {
    const { p99Ms, slowForMs } = seen.disks?.get(name) ?? { p99Ms: undefined, slowForMs: 0 };
    const named = before?.members.find((each) => each.name === name);
    if (named !== undefined) return isThere(seen, name) && (p99Ms === undefined || slowForMs > 0) ? [named] : [];
    return slowForMs >= afterMs ? [{ name, since: now, p99Milliseconds: Math.floor(p99Ms ?? 0) }] : [];
  });
}

/** What the condition Degraded says of slow disks. */
export function slowDisksText(seen: Situation): string | undefined {
  const named = seen.cluster.status?.slowDisks?.members ?? [];
  if (named.length === 0) return undefined;
  const { slowDisk } = seen.cluster.spec.healing;
  const outlook =
    slowDisk === "replace"
      ? named.length > 1
        ? "no member is replaced while more than one disk is slow"
        : "another member takes its place, at most one an hour"
      : "set spec.healing.slowDisk to replace, or move it";
  return `${named.map(({ name }) => slowText(seen, name)).join("; ")}; ${outlook}`;
}

function slowText({ cluster }: Situation, name: string): string {
  const { members = [] } = cluster.status?.slowDisks ?? {};
  const ms = members.find((each) => each.name === name)?.p99Milliseconds ?? 0;
  const seconds = cluster.spec.healing.slowDiskSeconds;
  return `1 of 100 writes to the disk of ${name} takes longer than ${ms} ms, for ${seconds} s or more`;
}

/** The node that a new member should avoid. */
export function nodeToAvoid({ members }: Situation, name: string | undefined): string | undefined {
  const pod = members.find((each) => each.name === name)?.pod;
  return podState(pod) === "missing" ? undefined : pod?.spec?.nodeName;
}
