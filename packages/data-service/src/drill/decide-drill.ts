/** Decides the next step of a RestoreDrill and its status; pure. */
import { timestampAt } from "@setpoint/host";
import { act, rest, type Step, type Stored, wait } from "setpoint";
import type { Backup } from "../kinds/backup.ts";
import { scheduledAt } from "../kinds/labels.ts";
import type { Restore } from "../kinds/restore.ts";
import { historyMax, type RestoreDrill } from "../kinds/restore-drill.ts";
import { isGood, newestFirst } from "../plan/retention.ts";
import { dueRun } from "../plan/schedule.ts";
import { isRestoreFinished } from "../restore/restore-phase.ts";

/** Everything that decides about a RestoreDrill. */
export interface SeenDrill {
  readonly drill: Stored<RestoreDrill>;
  readonly nowMs: number;
  /** The Backups of the instance. */
  readonly backups: readonly Stored<Backup>[];
  /** The Restore of the present drill. */
  readonly restore: Stored<Restore> | undefined;
  /** Whether the throw-away instance of that Restore is still there. */
  readonly hasInstance: boolean;
}

export interface DrillActions {
  readonly createRestore: { readonly name: string; readonly scheduledAt: string; readonly backup: string };
  readonly reportFailure: { readonly message: string };
  readonly deleteInstance: { readonly name: string };
  readonly deleteRestore: { readonly name: string };
}

export type DrillStatus = Omit<NonNullable<RestoreDrill["status"]>, "conditions">;
type DrillStep = Step<DrillActions>;
type Outcome = NonNullable<DrillStatus["history"]>[number];

export interface DrillDecision {
  readonly status: DrillStatus;
  readonly step: DrillStep;
}

const checkMs = 10_000;

export function decideDrill(seen: SeenDrill): DrillDecision {
  const { drill, restore } = seen;
  const { conditions: _conditions, ...before } = drill.status ?? {};
  const times = [before.lastScheduleTime, restore?.metadata.annotations?.[scheduledAt]];
  const lastScheduleTime = times
    .filter((each) => each !== undefined)
    .toSorted()
    .at(-1);
  const status = { ...before, observedGeneration: drill.metadata.generation, lastScheduleTime };
  return restore === undefined ? scheduling(seen, status) : following(seen, status, restore);
}

/** A drill is under way, or its remains are cleaned up. */
function following(seen: SeenDrill, status: DrillStatus, restore: Stored<Restore>): DrillDecision {
  const { name } = restore.metadata;
  if (!isRestoreFinished(restore)) {
    const message = `drill ${name}: ${restore.status?.message ?? "the restore begins"}`;
    return { status: { ...status, message }, step: wait(message, checkMs) };
  }
  const isNews = status.history?.some((each) => each.name === name) !== true;
  const known = isNews ? recorded(status, outcomeOf(seen, restore)) : status;
  const { outcome, message } = known.history?.find((each) => each.name === name) ?? {};
  if (isNews && outcome === "Failed") return { status: known, step: report(message ?? "") };
  const done = `drill ${name} ${outcome === "Failed" ? "failed" : "succeeded"}`;
  const step = seen.hasInstance
    ? act<DrillActions, "deleteInstance">("deleteInstance", { name }, `${done}; its instance is deleted`)
    : act<DrillActions, "deleteRestore">("deleteRestore", { name }, `${done}; nothing is left of it`);
  return { status: { ...known, message: undefined }, step };
}

function report(message: string): DrillStep {
  return act<DrillActions, "reportFailure">("reportFailure", { message }, `the drill has failed: ${message}`);
}

function outcomeOf({ backups }: SeenDrill, { metadata, spec, status }: Stored<Restore>): Outcome {
  const at = metadata.annotations?.[scheduledAt] ?? "";
  const takenAt = status?.takenAt ?? backups.find((each) => each.metadata.name === spec.source.backup)?.status?.takenAt;
  const isDone = status?.phase === "Succeeded";
  return {
    ...{ name: metadata.name, at, outcome: isDone ? "Succeeded" : "Failed", backup: spec.source.backup },
    ...(isDone ? { recoverySeconds: status.recoverySeconds } : { message: status?.message }),
    dataAgeSeconds: takenAt === undefined ? undefined : Math.max(0, (Date.parse(at) - Date.parse(takenAt)) / 1_000),
  };
}

function recorded(status: DrillStatus, entry: Outcome): DrillStatus {
  const history = [entry, ...(status.history ?? [])].slice(0, historyMax);
  const { recoverySeconds, dataAgeSeconds } = entry;
  const measured = entry.outcome === "Succeeded" ? { recoverySeconds, dataAgeSeconds } : {};
  return { ...status, ...measured, lastOutcome: entry.outcome, history };
}

function untilNext({ history = [] }: DrillStatus, nextMs: number, nowMs: number): DrillStep {
  const [last] = history;
  if (last?.outcome !== "Failed") return rest(nextMs - nowMs);
  const why = `drill ${last.name} has failed: ${last.message ?? ""}`;
  const message = `${why}; the next one is due at ${timestampAt(nextMs)}`;
  return rest(nextMs - nowMs, { reason: "DrillFailed", message });
}

function scheduling(seen: SeenDrill, status: DrillStatus): DrillDecision {
  const { drill, nowMs, backups } = seen;
  const { spec, metadata } = drill;
  const resting = (
    message: string | undefined,
    nextScheduleTime?: string,
    step: DrillStep = rest(),
  ): DrillDecision => ({
    status: { ...status, message, nextScheduleTime },
    step,
  });
  if (spec.suspend) return resting("the drill is suspended");
  const since = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp ?? "");
  const due = dueRun(spec, since, nowMs);
  if (typeof due === "string")
    return resting(due, undefined, rest(undefined, { reason: "ScheduleRefused", message: due }));
  const next = timestampAt(due.nextMs);
  if (due.dueMs === undefined) return resting(undefined, next, untilNext(status, due.nextMs, nowMs));
  const at = timestampAt(due.dueMs);
  const name = `${metadata.name}-${Math.floor(due.dueMs / 1_000)}`;
  const [newest] = newestFirst(backups.filter(isGood));
  if (newest !== undefined) {
    const args = { name, scheduledAt: at, backup: newest.metadata.name };
    const reason = `the drill of ${at} restores Backup "${newest.metadata.name}"`;
    return resting(undefined, next, act<DrillActions, "createRestore">("createRestore", args, reason));
  }
  const message = `${spec.instance.kind} "${spec.instance.name}" has no backup that was verified`;
  const failed = recorded({ ...status, lastScheduleTime: at }, { name, at, outcome: "Failed", message });
  return { status: { ...failed, message: undefined, nextScheduleTime: next }, step: report(message) };
}
