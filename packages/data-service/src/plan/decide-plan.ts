/** Decides the next step of a BackupPlan and its status; pure. */
import { timestampAt } from "@setpoint/host";
import { act, rest, type Step, type Stored, wait } from "setpoint";
import { isFinished } from "../backup/backup-phase.ts";
import type { Backup } from "../kinds/backup.ts";
import type { BackupPlan } from "../kinds/backup-plan.ts";
import { scheduledAt } from "../kinds/labels.ts";
import { expiredBackups, isGood, newestFirst } from "./retention.ts";
import { dueRun } from "./schedule.ts";

/** Everything that decides about a BackupPlan. */
export interface SeenPlan {
  readonly plan: Stored<BackupPlan>;
  readonly nowMs: number;
  /** The Backups of the plan. */
  readonly backups: readonly Stored<Backup>[];
  /** Names of Backups that a restore reads. */
  readonly inUse: ReadonlySet<string>;
}

export interface PlanActions {
  readonly createBackup: { readonly name: string; readonly scheduledAt: string };
  /** `keeps` is the newest good backup, which must still be there. */
  readonly deleteBackups: { readonly names: readonly string[]; readonly keeps: string };
}

export type PlanStep = Step<PlanActions>;
export type PlanStatus = Omit<NonNullable<BackupPlan["status"]>, "conditions">;

export interface PlanDecision {
  readonly status: PlanStatus;
  readonly step: PlanStep;
}

const activeCheckMs = 10_000;

export function decidePlan(seen: SeenPlan): PlanDecision {
  const status = statusOf(seen);
  const { step, ...more } = nextStep(seen, status);
  return { status: { ...status, ...more }, step };
}

type Part = { readonly step: PlanStep } & Partial<PlanStatus>;

function nextStep(seen: SeenPlan, status: PlanStatus): Part {
  const { plan, nowMs } = seen;
  const retained = retention(seen, status);
  if (retained !== undefined) return { step: retained };
  if (plan.spec.suspend) return { step: rest(), message: "the plan is suspended", nextScheduleTime: undefined };
  const since = status.lastScheduleTime ?? plan.metadata.creationTimestamp ?? "";
  const due = dueRun(plan.spec, Date.parse(since), nowMs);
  if (typeof due === "string")
    return {
      ...{ step: rest(undefined, { reason: "ScheduleRefused", message: due }), message: due },
      nextScheduleTime: undefined,
    };
  const nextScheduleTime = timestampAt(due.nextMs);
  const idle = { step: untilNext(seen, due.nextMs), nextScheduleTime, message: undefined };
  return due.dueMs === undefined ? idle : run(seen, due.dueMs, idle);
}

/** A plan whose newest backup failed has not reached what it is for. */
function untilNext({ backups, nowMs }: SeenPlan, nextMs: number): PlanStep {
  const [newest] = backups.toSorted((a, b) => timeOf(b) - timeOf(a));
  if (newest?.status?.phase !== "Failed") return rest(nextMs - nowMs);
  const why = `Backup "${newest.metadata.name}" has failed: ${newest.status.message ?? ""}`;
  const message = `${why}; the next one is due at ${timestampAt(nextMs)}`;
  return rest(nextMs - nowMs, { reason: "BackupFailed", message });
}

function timeOf({ metadata }: Stored<Backup>): number {
  return Date.parse(metadata.annotations?.[scheduledAt] ?? metadata.creationTimestamp ?? "");
}

/** A run is due. */
function run({ plan, backups, nowMs }: SeenPlan, dueMs: number, idle: Part): Part {
  const { spec, metadata } = plan;
  const at = timestampAt(dueMs);
  const { startingDeadlineSeconds: deadline } = spec;
  if (deadline !== undefined && nowMs - dueMs > deadline * 1_000)
    return {
      ...idle,
      lastScheduleTime: at,
      message: `the run of ${at} was left out: it could not begin within ${deadline} s`,
    };
  const [active] = spec.concurrency === "Forbid" ? backups.filter((each) => isInTheWay(each, spec)) : [];
  if (active !== undefined) {
    const { message = "it has not finished" } = active.status ?? {};
    const reason = `the run of ${at} waits for Backup "${active.metadata.name}": ${message}`;
    return { ...idle, step: wait(reason, activeCheckMs), message: reason };
  }
  // The name follows from the time, so that a run is never made twice.
  const name = `${metadata.name}-${Math.floor(dueMs / 1_000)}`;
  return {
    ...idle,
    step: act<PlanActions, "createBackup">("createBackup", { name, scheduledAt: at }, `the run of ${at} is due`),
  };
}

/** A Backup that cannot begin, and that the plan would not create today, keeps no other from being taken. */
function isInTheWay(backup: Stored<Backup>, { store }: BackupPlan["spec"]): boolean {
  return isActive(backup) && (backup.spec.store === store || backup.status?.waitingFor === undefined);
}

function retention({ plan, backups, inUse, nowMs }: SeenPlan, { lastGoodBackup }: PlanStatus): PlanStep | undefined {
  const names = expiredBackups(backups, plan.spec.retention, inUse, nowMs).map(({ metadata }) => metadata.name);
  if (names.length === 0 || lastGoodBackup === undefined) return undefined;
  const reason = `${names.join(", ")} expired; the newest good backup is ${lastGoodBackup.name}`;
  return act<PlanActions, "deleteBackups">("deleteBackups", { names, keeps: lastGoodBackup.name }, reason);
}

function statusOf({ plan, backups }: SeenPlan): PlanStatus {
  const good = newestFirst(backups.filter(isGood));
  const [newest, oldest] = [good[0], good.at(-1)];
  const times = backups.flatMap(({ metadata }) => metadata.annotations?.[scheduledAt] ?? []);
  const recorded = plan.status?.lastScheduleTime;
  const lastScheduleTime = [...times, ...(recorded === undefined ? [] : [recorded])].toSorted().at(-1);
  return {
    observedGeneration: plan.metadata.generation,
    lastScheduleTime,
    lastGoodBackup: newest === undefined ? undefined : lastGood(newest),
    recoverableWindow: window(oldest?.status?.takenAt, newest?.status?.takenAt),
    goodBackups: good.length,
    active: backups
      .filter(isActive)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  };
}

function window(from: string | undefined, to: string | undefined): PlanStatus["recoverableWindow"] {
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** One that is being deleted has been given up. */
export function isActive(backup: Stored<Backup>): boolean {
  return !isFinished(backup) && backup.metadata.deletionTimestamp === undefined;
}

function lastGood({ metadata, status }: Stored<Backup>): NonNullable<PlanStatus["lastGoodBackup"]> {
  return { name: metadata.name, takenAt: status?.takenAt ?? "", position: status?.position };
}
