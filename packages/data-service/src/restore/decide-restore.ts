/**
 * Decides the next step of a Restore and its status; pure. Nothing of the present instance is touched before
 * the source is verified. After the stop of its members every failure leads back to the volumes from before.
 */
import { timestampAt } from "@setpoint/host";
import { act, parseDuration, rest, type Step, wait } from "setpoint";
import { isFinished } from "../backup/backup-phase.ts";
import { hasBegun, isRestoreFinished, targetName } from "./restore-phase.ts";
import type { RestoreMark } from "../engine/restore-mark.ts";
import type { Restore } from "../kinds/restore.ts";
import { type AttemptStep, nextAttemptStep } from "../transfer/attempt.ts";
import { hasReplay } from "./restore-target.ts";
import { phaseAfter, type RestorePhase, restoreSteps } from "./restore-steps.ts";
import { restoreIdOf, restoreTransferName, safetyBackupName, type SeenRestore, storeNameOf } from "./seen-restore.ts";

export interface RestoreActions {
  readonly startVerify: { readonly pod: string };
  readonly createSafetyBackup: { readonly name: string };
  /** Creates the new instance, which waits for its data. */
  readonly createInstance: { readonly name: string };
  /** Tells the instance's operator what to do with its members. */
  readonly mark: RestoreMark;
  readonly createClaim: Record<never, never>;
  readonly discardClaim: Record<never, never>;
  readonly startPrepare: { readonly pod: string };
  /** Deletes pods that the restore no longer waits for. */
  readonly deletePods: { readonly pods: readonly string[] };
  readonly report: { readonly failure?: string | undefined };
}

export type RestoreStep = Step<RestoreActions>;
export type RestoreStatus = Omit<NonNullable<Restore["status"]>, "conditions">;

export interface RestoreDecision {
  readonly status: RestoreStatus;
  readonly step: RestoreStep;
}

/** How often something is checked whose changes a watch shows too. */
const checkMs = 5_000;
/**
 * A wall clock that jumped makes a step look late; this process must have seen the phase for this long
 * itself.
 */
const observedMsMin = 60_000;
type DoneTransfer = Extract<AttemptStep, { kind: "done" }>["result"];

const noAttempt = { attempt: undefined, retryAt: undefined, transferUID: undefined };

export function decideRestore(seen: SeenRestore): RestoreDecision {
  const { status, step } = decide(seen);
  return { status: { ...status, plannedSteps: restoreSteps(seen.restore, status.phase) }, step };
}

function decide(seen: SeenRestore): RestoreDecision {
  const status = statusOf(seen);
  const names = seen.spentPods.map(({ metadata }) => metadata.name);
  if (names.length > 0)
    return { status, step: deletion(names, `${names.join(", ")} would keep the volume from being deleted`) };
  if (isRestoreFinished(seen.restore)) return { status, step: afterEnd(seen, status) };
  return phases[status.phase](seen, status);
}

function statusOf({ restore, nowMs }: SeenRestore): RestoreStatus {
  const now = timestampAt(nowMs);
  const first: NonNullable<Restore["status"]> = {
    phase: "Pending",
    id: restoreIdOf(restore),
    startedAt: now,
    stepStartedAt: now,
  };
  const { conditions: _conditions, ...status } = restore.status ?? first;
  return { ...status, observedGeneration: restore.metadata.generation, waitingFor: undefined };
}

type Decide = (seen: SeenRestore, status: RestoreStatus) => RestoreDecision;

const phases: Readonly<Record<RestorePhase, Decide>> = {
  Pending: pending,
  Verifying: verifying,
  SavingPresent: savingPresent,
  Stopping: stopping,
  Preparing: preparing,
  Starting: starting,
  RollingBack: rollingBack,
  Succeeded: (_, status) => ({ status, step: rest() }),
  Failed: (_, status) => ({ status, step: rest() }),
};

/** Finds the source; nothing has begun. */
function pending(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  const { restore, backup, ahead, target, refusal } = seen;
  const { source, newInstance } = restore.spec;
  if (source.backup !== undefined && backup === undefined)
    return unable(seen, status, `Backup "${source.backup}" does not exist`);
  if (backup !== undefined && !isFinished(backup))
    return unable(seen, status, `Backup "${source.backup}" has not finished`);
  if (backup?.status?.phase === "Failed")
    return failed(seen, status, `Backup "${source.backup}" has failed, so there is nothing to restore`);
  if (newInstance !== undefined && target !== undefined && target.mark?.id !== status.id)
    return failed(
      seen,
      status,
      `${restore.spec.instance.kind} "${newInstance.name}" exists already; name another instance`,
    );
  if (newInstance === undefined && target === undefined)
    return unable(seen, status, `${restore.spec.instance.kind} "${restore.spec.instance.name}" does not exist`);
  const refused = refusal ?? seen.replayRefusal;
  if (refused !== undefined) return failed(seen, status, refused);
  if (source.archive !== undefined && seen.archive === undefined) return unable(seen, status, unknownArchive(restore));
  const missing = missingFor(seen, storeNameOf(restore, backup));
  if (missing !== undefined) return unable(seen, status, missing);
  if (ahead !== undefined) return queued(seen, status, ahead);
  const { sha256, encryptionKey, position, takenAt, object } = backup?.status ?? {};
  const found = {
    store: storeNameOf(restore, backup),
    archive: seen.archive,
    object: source.stored?.object ?? object,
    ...{ sha256, encryptionKey, position, takenAt },
  };
  return next(seen, { ...status, ...found }, "the source is verified before anything is changed");
}

function unknownArchive({ spec: { instance } }: Restore): string {
  return `${instance.kind} "${instance.name}" does not exist, and no Backup of it says its UID; set spec.source.archive.instanceUID of a new Restore`;
}

function verifying(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  return transferring(seen, status, "verify", ({ backup, way }) => {
    if (hasReplay(seen.restore) && way === undefined)
      return failed(seen, status, "the transfer reported success without a way to the target");
    const refusal = backup === undefined ? undefined : seen.versionRefusal(backup.engineVersion);
    if (refusal !== undefined) return failed(seen, status, refusal);
    const { sha256, encryptionKey } = backup ?? {};
    const known = { ...status, ...momentOf(seen.restore, backup, way), sha256, encryptionKey, way };
    const isNew = seen.restore.spec.newInstance !== undefined;
    const then = isNew ? "the new instance gets its data" : "the present data are backed up";
    return next(seen, known, `the source is verified; ${then}`);
  });
}

/** What the restored data are of, as far as it is known before a replay. */
function momentOf(
  restore: Restore,
  backup: DoneTransfer["backup"],
  way: DoneTransfer["way"],
): Pick<RestoreStatus, "position" | "takenAt" | "object"> {
  if (way === undefined)
    return { position: backup?.position, takenAt: backup?.takenAt, object: restore.status?.object };
  const { target } = restore.spec;
  const end = target === undefined ? { position: way.end, takenAt: way.to } : {};
  return { position: target?.position, takenAt: target?.time, ...end, object: way.object };
}

/** A backup of the present data, if the instance can give them. Its volumes are kept in any case. */
function savingPresent(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  const { restore, target, safetyBackup } = seen;
  if (target === undefined)
    return failed(seen, status, `${restore.spec.instance.kind} "${targetName(restore)}" is gone`);
  if (seen.ahead !== undefined) return queued(seen, status, seen.ahead);
  const name = safetyBackupName(restore);
  const instanceUID = target.uid;
  const stop = (message: string, saved?: string): RestoreDecision =>
    next(seen, { ...status, instanceUID, safetyBackup: saved }, message);
  if (safetyBackup === undefined && !target.state.serving)
    return stop("the instance does not serve, so its present data are kept as volumes only");
  const missing = missingFor(seen, status.store);
  if (safetyBackup === undefined && missing !== undefined) return blocked(seen, status, missing);
  if (safetyBackup === undefined) {
    const reason = `the present data are backed up as ${name}`;
    return {
      status: { ...status, instanceUID, message: reason },
      step: act<RestoreActions, "createSafetyBackup">("createSafetyBackup", { name }, reason),
    };
  }
  const { phase, message = "" } = safetyBackup.status ?? {};
  if (phase === "Succeeded") return stop("the present data are backed up; the members are stopped", name);
  if (phase === "Failed") return failed(seen, status, `the backup of the present data has failed: ${message}`);
  return waiting({ ...status, instanceUID }, `Backup "${name}" of the present data: ${message}`);
}

function stopping(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  const { target } = seen;
  const lost = lostTarget(seen, status);
  if (lost !== undefined || target === undefined) return failed(seen, status, lost ?? "");
  const marked = ensureMark(seen, status, "stop");
  if (marked !== undefined) return marked;
  if (target.state.stoppedFor === status.id)
    return next(seen, status, "all members have stopped; a volume gets the restored data");
  return late(seen, status) ?? waiting(status, `the members are stopping${because(target.state.waitingFor)}`);
}

function preparing(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  const { restore, target, claim } = seen;
  const { newInstance } = restore.spec;
  if (target === undefined && newInstance !== undefined && status.instanceUID === undefined) {
    const reason = `${restore.spec.instance.kind} "${newInstance.name}" is created and waits for its data`;
    const step = act<RestoreActions, "createInstance">("createInstance", { name: newInstance.name }, reason);
    return { status: { ...status, message: reason }, step };
  }
  const known = { ...status, instanceUID: status.instanceUID ?? target?.uid };
  const lost = lostTarget(seen, known);
  if (lost !== undefined) return failed(seen, status, lost);
  if (newInstance !== undefined && target?.mark?.id !== status.id)
    return failed(
      seen,
      status,
      `${restore.spec.instance.kind} "${newInstance.name}" exists already; name another instance`,
    );
  // A pod that waits for a claim which is being deleted keeps it, and never starts.
  const isWaitingForIt = seen.transfer.state === "running" && seen.transfer.pendingSince !== undefined;
  if (isWaitingForIt && claim?.metadata.deletionTimestamp !== undefined)
    return failed(seen, known, "the volume with the restored data was deleted");
  // What a failed attempt has left on the claim is of no use, and the tool refuses it.
  const isBetween = known.retryAt !== undefined || seen.transfer.state === "missing";
  if (isBetween && claim?.metadata.deletionTimestamp !== undefined)
    return waiting(known, "the volume of a failed attempt is being deleted");
  if (known.retryAt !== undefined && claim !== undefined)
    return {
      status: known,
      step: act<RestoreActions, "discardClaim">("discardClaim", {}, "a failed attempt has left data"),
    };
  return transferring(seen, known, "prepare", () => next(seen, known, "the volume has the restored data"));
}

function starting(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  const { target, restore, nowMs } = seen;
  const lost = lostTarget(seen, status);
  if (lost !== undefined || target === undefined) return failed(seen, status, lost ?? "");
  const { serving, restored, waitingFor } = target.state;
  const isBack = serving && restored === status.id;
  if (!isBack && isClaimLost(seen)) return failed(seen, status, "the volume with the restored data was deleted");
  const marked = ensureMark(seen, status, "start");
  if (marked !== undefined) return marked;
  if (!isBack)
    return late(seen, status) ?? waiting(status, `the instance starts with the restored data${because(waitingFor)}`);
  const now = timestampAt(nowMs);
  const keptMs = restore.spec.inPlace === undefined ? undefined : nowMs + parseDuration(restore.spec.keepPreviousFor);
  const done: RestoreStatus = {
    ...status,
    phase: phaseAfter(restore, status.phase),
    message: undefined,
    finishedAt: now,
    stepStartedAt: now,
    recoverySeconds: Math.round((nowMs - Date.parse(status.startedAt ?? now)) / 1_000),
    previousKeptUntil: keptMs === undefined ? undefined : timestampAt(keptMs),
  };
  return { status: done, step: report(undefined) };
}

/** The previous data come back; only then the Restore has failed. */
function rollingBack(seen: SeenRestore, status: RestoreStatus): RestoreDecision {
  const { target, claim } = seen;
  const lost = lostTarget(seen, status);
  if (lost !== undefined || target === undefined) return failed(seen, status, lost ?? "");
  const left = leftPods(seen);
  if (left !== undefined) return { status, step: left };
  const marked = ensureMark(seen, status, "back");
  if (marked !== undefined) return marked;
  const { serving, restored, stoppedFor, waitingFor } = target.state;
  if (!serving || restored === status.id || stoppedFor === status.id)
    return waiting(status, `${status.failure}; the instance goes back to its previous data${because(waitingFor)}`);
  if (claim !== undefined && claim.metadata.deletionTimestamp === undefined)
    return { status, step: act<RestoreActions, "discardClaim">("discardClaim", {}, "the restored data are given up") };
  return end(seen, status, `${status.failure}; the instance runs on its previous data`);
}

/** They may still start, and nobody waits for them. */
function leftPods({ pods }: SeenRestore): RestoreStep | undefined {
  const names = pods.map(({ metadata }) => metadata.name);
  return names.length === 0 ? undefined : deletion(names, `the restore does not wait for ${names.join(", ")} any more`);
}

function deletion(pods: readonly string[], reason: string): RestoreStep {
  return act<RestoreActions, "deletePods">("deletePods", { pods }, reason);
}

/** The volumes from before are kept for a time. */
function afterEnd(seen: SeenRestore, { phase, message = "", id = "", previousKeptUntil }: RestoreStatus): RestoreStep {
  const left = leftPods(seen);
  if (left !== undefined) return left;
  if (phase === "Failed") return rest(undefined, { reason: "Failed", message });
  const { restore, target, nowMs } = seen;
  if (phase !== "Succeeded" || target?.mark?.id !== id || target.mark.state === "done") return rest();
  const leftMs = previousKeptUntil === undefined ? 0 : Date.parse(previousKeptUntil) - nowMs;
  if (leftMs > 0) return rest(leftMs);
  const reason = restore.spec.inPlace === undefined ? "the instance is complete" : "the volumes from before expired";
  return act<RestoreActions, "mark">("mark", { id, state: "done" }, reason);
}

/** Why the instance is not the one that the restore began with. */
function lostTarget({ restore, target }: SeenRestore, { instanceUID }: RestoreStatus): string | undefined {
  const what = `${restore.spec.instance.kind} "${targetName(restore)}"`;
  if (target === undefined || target.object.metadata.deletionTimestamp !== undefined) return `${what} was deleted`;
  return instanceUID === undefined || target.uid === instanceUID ? undefined : `${what} was deleted and created again`;
}

/** Whether the prepared volume was deleted. Its name is unknown while the engine refuses the instance. */
function isClaimLost({ claim, refusal }: SeenRestore): boolean {
  return refusal === undefined && (claim === undefined || claim.metadata.deletionTimestamp !== undefined);
}

function ensureMark(
  { target }: SeenRestore,
  status: RestoreStatus,
  state: RestoreMark["state"],
): RestoreDecision | undefined {
  const { id = "" } = status;
  if (target?.mark?.id === id && target.mark.state === state) return undefined;
  const texts = { waiting: "waits", stop: "stops its members", start: "starts on the restored data" } as const;
  const reason = `the instance ${state in texts ? texts[state as keyof typeof texts] : "goes back to its previous data"}`;
  return { status: { ...status, message: reason }, step: act<RestoreActions, "mark">("mark", { id, state }, reason) };
}

function transferring(
  seen: SeenRestore,
  status: RestoreStatus,
  task: "verify" | "prepare",
  done: (result: DoneTransfer) => RestoreDecision,
): RestoreDecision {
  const { restore, nowMs } = seen;
  const step = nextAttemptStep(status, seen.transfer, { attempts: restore.spec.attempts, nowMs });
  switch (step.kind) {
    case "done":
      return done(step.result);
    case "failed":
      return failed(seen, status, `${step.result.reason}: ${step.result.message}`);
    case "wait": {
      const known = { ...status, ...noAttempt, ...step.state, ...said(step.reason) };
      // The node ends what runs at its deadline; what has not started has no node that does.
      const isPending = seen.transfer.state === "running" && seen.transfer.pendingSince !== undefined;
      const overdue = isPending ? late(seen, known) : undefined;
      return overdue ?? { status: known, step: wait(known.message ?? "", step.delayMs) };
    }
    case "start":
      return startTransfer(seen, { ...status, ...noAttempt, ...step.state }, task, step.attempt);
  }
}

function said(reason: string): { readonly message?: string } {
  return reason === "" ? {} : { message: reason };
}

function startTransfer(
  seen: SeenRestore,
  status: RestoreStatus,
  task: "verify" | "prepare",
  attempt: number,
): RestoreDecision {
  const { restore, claim } = seen;
  const missing = missingFor(seen, status.store);
  if (missing !== undefined) return blocked(seen, status, missing);
  if (task === "prepare" && claim === undefined)
    return { status, step: act<RestoreActions, "createClaim">("createClaim", {}, "the restored data get a volume") };
  const pod = restoreTransferName(restore.metadata.name, task, attempt);
  const message = `${task}: attempt ${attempt} of ${restore.spec.attempts} begins`;
  const step =
    task === "verify"
      ? act<RestoreActions, "startVerify">("startVerify", { pod }, message)
      : act<RestoreActions, "startPrepare">("startPrepare", { pod }, message);
  return { status: { ...status, message }, step };
}

/** The present phase has succeeded. */
function next(seen: SeenRestore, status: RestoreStatus, message: string): RestoreDecision {
  return enter(seen, status, phaseAfter(seen.restore, status.phase), message);
}

function enter({ nowMs }: SeenRestore, status: RestoreStatus, phase: RestorePhase, message: string): RestoreDecision {
  const stepStartedAt = timestampAt(nowMs);
  return { status: { ...status, ...noAttempt, phase, message, stepStartedAt }, step: wait(message, 0) };
}

function waiting(status: RestoreStatus, message: string): RestoreDecision {
  return { status: { ...status, message }, step: wait(message, checkMs) };
}

/** What a transfer cannot begin without. */
function missingFor({ image, store, storeRefusal }: SeenRestore, name = ""): string | undefined {
  if (image === undefined || image === "")
    return "the operator does not know its own image; set its environment variable SETPOINT_OPERATOR_IMAGE";
  return store === undefined ? `BackupStore "${name}" does not exist` : storeRefusal;
}

/** It cannot begin; others go first. */
function unable(seen: SeenRestore, status: RestoreStatus, waitingFor: string): RestoreDecision {
  return blocked(seen, { ...status, waitingFor }, waitingFor);
}

/** It could begin, and waits for its turn. */
function queued(seen: SeenRestore, status: RestoreStatus, ahead: NonNullable<SeenRestore["ahead"]>): RestoreDecision {
  const why = hasBegun(ahead) ? "is in progress" : "is older and not finished";
  return blocked(seen, status, `Restore "${ahead.metadata.name}" of the same instance ${why}`);
}

/** Something that must be there is not. It may come until the deadline. */
function blocked(seen: SeenRestore, status: RestoreStatus, message: string): RestoreDecision {
  return late(seen, { ...status, message }) ?? waiting(status, message);
}

function late(seen: SeenRestore, status: RestoreStatus): RestoreDecision | undefined {
  const deadlineMs = seen.restore.spec.deadlineSeconds * 1_000;
  const isLate = seen.nowMs > Date.parse(status.stepStartedAt ?? "") + deadlineMs;
  if (!isLate || seen.inPhaseMs < Math.min(deadlineMs, observedMsMin)) return undefined;
  return failed(seen, status, `${status.phase} took longer than ${deadlineMs / 1_000} s: ${status.message ?? ""}`);
}

/** Once members were stopped in place, a failure leads back to the previous data first. */
function failed(seen: SeenRestore, status: RestoreStatus, failure: string): RestoreDecision {
  const isTouched = ["Stopping", "Preparing", "Starting"].includes(status.phase);
  const canGoBack = seen.restore.spec.inPlace !== undefined && lostTarget(seen, status) === undefined;
  if (isTouched && canGoBack) return enter(seen, { ...status, failure }, "RollingBack", failure);
  return end(seen, status, failure);
}

function end({ nowMs }: SeenRestore, status: RestoreStatus, failure: string): RestoreDecision {
  const finishedAt = timestampAt(nowMs);
  return {
    status: {
      ...{ ...status, ...noAttempt, waitingFor: undefined },
      ...{ phase: "Failed", message: failure, finishedAt, stepStartedAt: finishedAt },
    },
    step: report(failure),
  };
}

function report(failure: string | undefined): RestoreStep {
  const reason = failure === undefined ? "the instance serves the restored data" : `the restore has failed: ${failure}`;
  return act<RestoreActions, "report">("report", { failure }, reason);
}

function because(waitingFor: string | undefined): string {
  return waitingFor === undefined ? "" : `: ${waitingFor}`;
}
