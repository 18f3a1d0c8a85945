/**
 * Gives space back: by schedule, by size, and when etcd accepts no more writes; one member at a time, the
 * leader last.
 */
import { wait } from "setpoint";
import { nextCronRun } from "setpoint/sources";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels } from "../kind/member-names.ts";
import { quotaBytesDefault } from "../kind/maintenance.ts";
import { othersAnswer } from "./check.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import { isLeader, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

type Run = NonNullable<NonNullable<EtcdCluster["status"]>["defragmentation"]>;

/** After this time a run that has not helped, or that a crash has cut short, begins again. */
const runMsMax = 3_600_000;
/** The share of the quota under which etcd may accept writes again. */
const freedRatio = 0.9;
const mebibyte = 1_048_576;

/**
 * etcd accepts no writes until its history is compacted, all members are defragmented and the alarm is
 * disarmed, in this order.
 */
export function planSpace(seen: Situation, nowMs: number): EtcdStep | undefined {
  if (!hasNoSpace(seen)) return undefined;
  const run = runOf(seen, "NoSpace", nowMs);
  const revision = Math.max(...seen.members.map(({ status }) => status?.revision ?? 0));
  if (run === undefined)
    return act(
      "compact",
      { revision },
      `etcd accepts no writes (NOSPACE): its history up to revision ${revision} is compacted first`,
    );
  const next = inTurn(seen).find(({ name }) => !run.members.includes(name));
  if (next !== undefined) return defragment(seen, next, "etcd accepts no writes (NOSPACE)");
  const quota = quotaOf(seen.cluster);
  const full = seen.members.find(({ status }) => (status?.dbSize ?? 0) > quota * freedRatio);
  if (full === undefined) return act("disarm", {}, "all members have space again: the alarm NOSPACE is disarmed");
  return wait(
    `etcd accepts no writes (NOSPACE), and the data of ${full.name} fill ${full.status?.dbSize ?? 0} of ${quota} bytes: delete keys, or raise spec.options.quota-backend-bytes`,
    recheckMs,
  );
}

/** The rest of a run, or a new one that is due. */
export function planDefragmentation(seen: Situation, nowMs: number): EtcdStep | undefined {
  const due = dueMembers(seen, nowMs);
  const next = inTurn(seen).find(({ name }) => due.members.includes(name));
  return next === undefined ? undefined : defragment(seen, next, dueText(due.reason, next));
}

function dueText(reason: Run["reason"], member: SeenMember): string {
  if (reason === "Request") return "a user or an Operation asked for it";
  return reason === "Schedule" ? "the schedule says so" : freeText(member);
}

/** Who has to be defragmented now, and why. */
function dueMembers(seen: Situation, nowMs: number): Pick<Run, "reason" | "members"> {
  const all = seen.members.map(({ name }) => name);
  const going = runOf(seen, "Request", nowMs) ?? runOf(seen, "Schedule", nowMs);
  if (going !== undefined && going.finished === undefined)
    return { reason: going.reason, members: all.filter((name) => !going.members.includes(name)) };
  if (isRequested(seen.cluster)) return { reason: "Request", members: all };
  if (isScheduled(seen.cluster, nowMs)) return { reason: "Schedule", members: all };
  const done = runOf(seen, "FreeSpace", nowMs)?.members ?? [];
  const loose = seen.members.filter((member) => isLoose(seen, member)).map(({ name }) => name);
  return { reason: "FreeSpace", members: loose.filter((name) => !done.includes(name)) };
}

/** The run as the status records it with the step that is taken; written before the step. */
export function defragmentationRun(seen: Situation, step: EtcdStep, now: string): Run | undefined {
  const nowMs = Date.parse(now);
  const last = seen.cluster.status?.defragmentation;
  if (step.kind === "act" && step.action === "compact") return { reason: "NoSpace", started: now, members: [] };
  if (step.kind === "act" && step.action === "defragment") {
    const reason = hasNoSpace(seen) ? "NoSpace" : dueMembers(seen, nowMs).reason;
    const run = beginsAnew(seen, reason, nowMs) ? undefined : runOf(seen, reason, nowMs);
    const request = reason === "Request" ? { request: run?.request ?? requestOf(seen.cluster) } : {};
    return { reason, started: run?.started ?? now, ...request, members: [...(run?.members ?? []), step.args.member] };
  }
  const isOver = step.kind === "rest" || (step.kind === "act" && step.action === "disarm");
  return last !== undefined && last.finished === undefined && isOver ? { ...last, finished: now } : last;
}

function beginsAnew({ cluster }: Situation, reason: Run["reason"], nowMs: number): boolean {
  if (cluster.status?.defragmentation?.finished === undefined) return false;
  return reason === "Request" ? isRequested(cluster) : reason === "Schedule" && isScheduled(cluster, nowMs);
}

function requestOf({ metadata }: EtcdCluster): string | undefined {
  return metadata.annotations?.[labels.defragment];
}

function isRequested(cluster: EtcdCluster): boolean {
  const request = requestOf(cluster);
  return request !== undefined && request !== cluster.status?.lastRequestedDefragmentation;
}

/** The latest request that has begun; it does not begin again. */
export function lastRequested({ cluster }: Situation, run: Run | undefined): string | undefined {
  return run?.request ?? cluster.status?.lastRequestedDefragmentation;
}

/**
 * The latest run for this reason, while it says anything: one without space until it is over, one by size for
 * an hour, because a member that is full of data again soon is not defragmented all the time.
 */
function runOf({ cluster }: Situation, reason: Run["reason"], nowMs: number): Run | undefined {
  const run = cluster.status?.defragmentation;
  if (run?.reason !== reason || (reason === "NoSpace" && run.finished !== undefined)) return undefined;
  return reason === "Schedule" || reason === "Request" || nowMs - Date.parse(run.started) < runMsMax ? run : undefined;
}

function isScheduled({ metadata, spec, status }: EtcdCluster, nowMs: number): boolean {
  const { schedule } = spec.maintenance.defragmentation;
  if (schedule === undefined) return false;
  const last = status?.lastScheduledDefragmentation ?? metadata.creationTimestamp ?? "";
  return nextCronRun(schedule, Date.parse(last)) <= nowMs;
}

/** When the last run by schedule began; the next one counts from there. */
export function lastScheduled(seen: Situation, run: Run | undefined): string | undefined {
  return run?.reason === "Schedule" ? run.started : seen.cluster.status?.lastScheduledDefragmentation;
}

/** Whether enough of its file is free to be worth the pause. */
function isLoose({ cluster }: Situation, { status }: SeenMember): boolean {
  if (status === undefined) return false;
  const { whenFreePercent, minDbSizeMiB } = cluster.spec.maintenance.defragmentation;
  return status.dbSize >= minDbSizeMiB * mebibyte && freePercent(status) >= whenFreePercent;
}

function freePercent({ dbSize, dbSizeInUse }: { readonly dbSize: number; readonly dbSizeInUse: number }): number {
  return dbSize === 0 ? 0 : Math.floor((100 * (dbSize - dbSizeInUse)) / dbSize);
}

function freeText({ status }: SeenMember): string {
  return status === undefined ? "" : `${freePercent(status)} % of its ${status.dbSize} bytes are free`;
}

export function hasNoSpace({ members }: Situation): boolean {
  return members.some(({ status }) => status?.errors.some((error) => error.includes("NOSPACE")) === true);
}

function quotaOf({ spec }: EtcdCluster): number {
  const quota = Number(spec.options?.["quota-backend-bytes"] ?? 0);
  return quota > 0 ? quota : quotaBytesDefault;
}

function inTurn({ members }: Situation): readonly SeenMember[] {
  const listed = members.filter(({ listed: entry }) => entry !== undefined);
  return [...listed.filter((each) => !isLeader(each)), ...listed.filter(isLeader)];
}

function defragment(seen: Situation, { name }: SeenMember, why: string): EtcdStep {
  return act("defragment", { member: name, check: othersAnswer(seen, name) }, `${name} is defragmented: ${why}`);
}
