/** Decides the next step of a Backup and its status; pure. */
import { act, rest, type Step, wait } from "setpoint";
import type { StoredBackup } from "../agent/request.ts";
import type { Backup } from "../kinds/backup.ts";
import { storedFolder } from "../kinds/instance.ts";
import type { PlannedStep } from "../kinds/planned-step.ts";
import { type AttemptState, type AttemptStep, nextAttemptStep, retryLater, transferName } from "../transfer/attempt.ts";
import { timestampAt } from "@setpoint/host";
import { hasBegun, isFinished } from "./backup-phase.ts";
import { leftPods, otherWriter, type SeenBackup, taskOf } from "./seen-backup.ts";

export interface BackupActions {
  /** Creates the pod of a transfer. */
  readonly startTransfer: { readonly pod: string; readonly task: "backup" | "verify"; readonly object: string };
  /**
   * Reports the end. Pods that have ended stay until the Backup is deleted: they hold the log, and a late
   * answer to their creation creates no second one.
   */
  readonly finish: { readonly failure?: string | undefined };
  /** Deletes pods of a Backup that has finished and did not wait for them. */
  readonly deletePods: { readonly pods: readonly string[] };
}

export type BackupStep = Step<BackupActions>;
export type BackupStatus = Omit<NonNullable<Backup["status"]>, "conditions">;

/** What the status says, and what is done after it is written. */
export interface BackupDecision {
  readonly status: BackupStatus;
  readonly step: BackupStep;
}

/** How often what blocks a Backup is checked, where no watch shows its change. */
const blockedCheckMs = 10_000;
/** A pod starts within this time, unless it lacks something: a claim, a Secret, a node, its image. */
const podStartMsMax = 60_000;

export function decideBackup(seen: SeenBackup): BackupDecision {
  const { backup, nowMs } = seen;
  const status: BackupStatus = {
    ...withoutConditions(backup.status ?? { phase: "Pending", startedAt: timestampAt(nowMs) }),
    observedGeneration: backup.metadata.generation,
    waitingFor: undefined,
  };
  const decision = decideOn(seen, status);
  return { ...decision, status: { ...decision.status, plannedSteps: plannedSteps(backup, decision.status) } };
}

function decideOn(seen: SeenBackup, status: BackupStatus): BackupDecision {
  if (isFinished(seen.backup)) return { status, step: afterEnd(seen, status) };
  const refusal = seen.external?.refusal;
  return refusal === undefined ? transferring(seen, status) : failed(seen, status, refusal);
}

function afterEnd(seen: SeenBackup, { phase, message = "" }: BackupStatus): BackupStep {
  const pods = leftPods(seen).map(({ metadata }) => metadata.name);
  if (pods.length === 0) return phase === "Failed" ? rest(undefined, { reason: "Failed", message }) : rest();
  const reason = `the backup has finished without ${pods.join(", ")}`;
  return act<BackupActions, "deletePods">("deletePods", { pods }, reason);
}

/** While it is going on; one that waits has no steps yet. */
function plannedSteps({ spec: { instance, store } }: Backup, { phase }: BackupStatus): PlannedStep[] | undefined {
  if (phase !== "Running" && phase !== "Verifying") return undefined;
  const data = `the data of ${instance.kind} "${instance.name}"`;
  const reason =
    phase === "Running"
      ? `a snapshot of ${data} is written to BackupStore "${store}" and read back`
      : `what BackupStore "${store}" has of ${data} is read back`;
  return [{ action: phase === "Running" ? "TakeBackup" : "VerifyBackup", reason, interruption: "none" }];
}

function withoutConditions(whole: NonNullable<Backup["status"]>): BackupStatus {
  const { conditions: _conditions, ...status } = whole;
  return status;
}

function finish(failure: string | undefined): BackupStep {
  const reason = failure === undefined ? "the backup is verified" : `the backup has failed: ${failure}`;
  return act<BackupActions, "finish">("finish", { failure }, reason);
}

function failed({ nowMs }: SeenBackup, status: BackupStatus, message: string): BackupDecision {
  return {
    status: { ...status, ...noAttempt, phase: "Failed", message, finishedAt: timestampAt(nowMs) },
    step: finish(message),
  };
}

const noAttempt = { retryAt: undefined, transferUID: undefined } satisfies AttemptState;

function transferring(seen: SeenBackup, status: BackupStatus): BackupDecision {
  const { backup, nowMs } = seen;
  const { attempts } = backup.spec;
  const next = nextAttemptStep(status, seen.transfer, { attempts, nowMs });
  if (next.kind === "start" && next.attempt > 1 && isLate(seen, status)) return late(seen, status, status.message);
  switch (next.kind) {
    case "start":
      return start(seen, status, next);
    case "wait":
      return notStarted(seen, status) ?? waiting(status, next);
    case "failed":
      return afterFailure(seen, status, next.result);
    case "done":
      return taskOf(backup) === "backup"
        ? stored(seen, status, next.result.backup)
        : verified(seen, status, next.result.backup);
  }
}

function start(
  seen: SeenBackup,
  status: BackupStatus,
  { attempt, state }: Extract<AttemptStep, { kind: "start" }>,
): BackupDecision {
  const task = taskOf(seen.backup);
  const pod = transferName(seen.backup.metadata.name, task, attempt);
  const waitingFor = missingFor(seen, task);
  const blocked = waitingFor ?? turnOf(seen, task, pod);
  if (blocked !== undefined && isLate(seen, status)) return late(seen, status, blocked);
  if (blocked !== undefined)
    return { status: { ...status, message: blocked, waitingFor }, step: wait(blocked, blockedCheckMs) };
  const phase = task === "backup" ? "Running" : "Verifying";
  const object = status.object ?? objectOf(seen);
  const message = `attempt ${attempt} of ${seen.backup.spec.attempts} begins`;
  return {
    status: {
      ...status,
      ...noAttempt,
      ...state,
      phase,
      message,
      object,
      instanceUID: status.instanceUID ?? (seen.external === undefined ? seen.instance?.uid : undefined),
    },
    step: act<BackupActions, "startTransfer">("startTransfer", { pod, task, object }, `${task}: ${message}`),
  };
}

/** Its pod lacks something, so that others go first until it starts. Undefined while it may just be slow. */
function notStarted(seen: SeenBackup, status: BackupStatus): BackupDecision | undefined {
  const { transfer, nowMs } = seen;
  if (transfer.state !== "running" || transfer.pendingSince === undefined) return undefined;
  if (nowMs < Date.parse(transfer.pendingSince) + podStartMsMax) return undefined;
  const pod = transferName(seen.backup.metadata.name, taskOf(seen.backup), status.attempt);
  const waitingFor = `pod "${pod}" has not started${transfer.reason}`;
  if (isLate(seen, status)) return late(seen, status, waitingFor);
  const known = { ...status, transferUID: transfer.uid, message: waitingFor, waitingFor };
  return { status: known, step: wait(waitingFor, blockedCheckMs) };
}

/** The clock may have jumped, so the deadline ends what waits or is tried again, and nothing that runs. */
function isLate({ backup, nowMs }: SeenBackup, { startedAt = "" }: BackupStatus): boolean {
  return nowMs > Date.parse(startedAt) + backup.spec.deadlineSeconds * 1_000;
}

function late(seen: SeenBackup, status: BackupStatus, why = "nothing was tried"): BackupDecision {
  return failed(seen, status, `not finished within ${seen.backup.spec.deadlineSeconds} s: ${why}`);
}

/** What a transfer cannot begin without. */
function missingFor(seen: SeenBackup, task: "backup" | "verify"): string | undefined {
  const { backup, store, storeRefusal, image } = seen;
  if (image === undefined || image === "")
    return "the operator does not know its own image, which transfer pods run: set the environment variable SETPOINT_OPERATOR_IMAGE of the operator";
  if (store === undefined) return `BackupStore "${backup.spec.store}" does not exist`;
  if (storeRefusal !== undefined) return storeRefusal;
  if (task === "verify") return undefined;
  return seen.external === undefined ? blockedByInstance(seen) : seen.external.blocked;
}

/** What a transfer that could begin waits for. */
function turnOf(seen: SeenBackup, task: "backup" | "verify", pod: string): string | undefined {
  const writer = otherWriter(seen, pod);
  if (writer !== undefined) return `pod "${writer}" of an earlier attempt has not stopped`;
  const { ahead } = seen;
  if (task === "verify" || ahead === undefined) return undefined;
  const why = hasBegun(ahead) ? "is being taken" : "is older and not finished";
  return `Backup "${ahead.metadata.name}" of the same instance ${why}`;
}

/** Why the instance gives no data now. */
function blockedByInstance({ backup: { spec, status }, instance }: SeenBackup): string | undefined {
  const what = `${spec.instance.kind} "${spec.instance.name}"`;
  if (instance === undefined) return `${what} does not exist`;
  if (status?.instanceUID !== undefined && status.instanceUID !== instance.uid)
    return `${what} is another one than that of the first attempt: it was deleted and created again`;
  if (instance.state.serving) return undefined;
  return `${what} does not serve${instance.state.waitingFor === undefined ? "" : `: ${instance.state.waitingFor}`}`;
}

/** Below the instance's UID, because a later instance of that name is another one. */
function objectOf({ backup, instance, external }: SeenBackup): string {
  const { uid, namespace = "" } = backup.metadata;
  const instanceUID = external === undefined ? (instance?.uid ?? "") : "external";
  return `${storedFolder(backup.spec.instance, namespace, instanceUID)}/${uid}`;
}

function waiting(
  status: BackupStatus,
  { state, reason, delayMs }: Extract<AttemptStep, { kind: "wait" }>,
): BackupDecision {
  const message = reason === "" ? (status.message ?? "") : reason;
  return { status: { ...status, ...noAttempt, ...state, message }, step: wait(message, delayMs) };
}

/** The data are stored; now they are read back. */
function stored(seen: SeenBackup, status: BackupStatus, backup: StoredBackup | undefined): BackupDecision {
  if (backup === undefined) return failed(seen, status, "the transfer reported success without what it stored");
  const { engineVersion, position, takenAt, dataBytes, storedBytes, sha256, encryptionKey } = backup;
  const facts = { engineVersion, position, takenAt, dataBytes, storedBytes, sha256, encryptionKey };
  const message = "the stored data are read back next";
  return {
    status: { ...status, ...noAttempt, ...facts, phase: "Verifying", message },
    step: wait(message, 0),
  };
}

/** A manifest that does not belong to what was stored counts as damaged. */
function verified(seen: SeenBackup, status: BackupStatus, found: StoredBackup | undefined): BackupDecision {
  if (found !== undefined && (found.sha256 !== status.sha256 || found.position !== status.position))
    return afterFailure(seen, status, {
      outcome: "failed",
      reason: "BackupDamaged",
      message: "the store has other data than those that were written",
      retry: false,
    });
  const now = timestampAt(seen.nowMs);
  return {
    status: { ...status, ...noAttempt, phase: "Succeeded", message: undefined, finishedAt: now, verifiedAt: now },
    step: finish(undefined),
  };
}

/** What was stored damaged is taken again while attempts are left. */
function afterFailure(
  seen: SeenBackup,
  status: BackupStatus,
  result: Parameters<typeof retryLater>[2],
): BackupDecision {
  const { attempts } = seen.backup.spec;
  const { attempt = 1 } = status;
  const text = `${result.reason}: ${result.message}`;
  if (status.phase !== "Verifying" || attempt >= attempts) return failed(seen, status, text);
  const next = retryLater(attempt, attempts, result, seen.nowMs);
  if (next.kind !== "wait") return failed(seen, status, text);
  return waiting({ ...status, phase: "Running" }, next);
}
