/** The next step of a ComplianceProbe; pure. */
import { act, rest, type Step, wait } from "setpoint";
import { isSetpointError } from "setpoint/client";
import { planByRules, type PlanRule } from "setpoint/sources";
import { podName } from "../run/probe-pod.ts";
import type { Seen, SeenRun } from "../seen/seen.ts";
import { nextEndMs } from "./acceptance.ts";
import { dueReason, nextRunMs, requestOf } from "./due.ts";

export interface ProbeActions {
  readonly record: { readonly pod: string };
  readonly discard: { readonly pods: readonly string[] };
  readonly start: { readonly number: number; readonly requested: string | undefined };
}

type ProbeStep = Step<ProbeActions>;

const pollMs = 5_000;
/** No watch shows a change of the ConfigMap. */
const baselineMs = 60_000;
const recheckMsMax = 86_400_000;

export const rules: readonly PlanRule<Seen, ProbeActions>[] = [
  { name: "older", when: ({ olderRuns }) => olderRuns.length > 0, step: ({ olderRuns }) => discard(olderRuns) },
  { name: "record", when: isOver, step: ({ run }) => record(run) },
  { name: "running", when: isRunning, step: waitForPod },
  { name: "recorded", when: isRecorded, step: discardRun },
  { name: "schedule", when: ({ probe }) => probe.spec.schedule !== undefined, step: refuseSchedule },
  { name: "due", when: (seen) => dueReason(seen) !== undefined, step: start },
  { name: "rest", when: () => true, step: restUntilNext },
];

export const plan: (seen: Seen, nowMs: number) => ProbeStep = planByRules(rules);

/** The node ends a pod that is over its deadline: its clock decides, not the one of this process. */
function isOver(seen: Seen): boolean {
  return seen.run?.finishedAt !== undefined && !isRecorded(seen);
}

/** Whether its results are in the status; what becomes of the pod then is of no interest. */
export function isRecorded({ probe, run }: Seen): boolean {
  return run !== undefined && probe.status?.lastRun?.pod === run.name;
}

function isRunning(seen: Seen): boolean {
  return seen.run !== undefined && seen.run.finishedAt === undefined && !isRecorded(seen);
}

function waitForPod({ run }: Seen): ProbeStep {
  const problem = run?.problem === undefined ? "" : `: ${run.problem}`;
  return wait(`waiting for the pod ${run?.name}${problem}`, pollMs);
}

function record(run: SeenRun | undefined): ProbeStep | undefined {
  if (run === undefined) return undefined;
  return act<ProbeActions, "record">("record", { pod: run.name }, `run ${run.number} has ended`);
}

function discard(pods: readonly string[]): ProbeStep {
  return act<ProbeActions, "discard">("discard", { pods }, `no longer needed: ${pods.join(", ")}`);
}

/** What it found is in the status, and nothing of a run may be left when the next one begins. */
function discardRun({ run }: Seen): ProbeStep | undefined {
  if (run === undefined) return undefined;
  return run.isDeleting ? wait(`the pod ${run.name} is being deleted`, pollMs) : discard([run.name]);
}

/** The server accepts some lines that never fire. */
function refuseSchedule(seen: Seen): ProbeStep | undefined {
  const message = scheduleProblem(seen);
  return message === undefined ? undefined : rest(undefined, { reason: "ScheduleRefused", message });
}

export function scheduleProblem(seen: Seen): string | undefined {
  try {
    nextRunMs(seen);
    return undefined;
  } catch (error) {
    if (isSetpointError(error, "ERR_CRON_INVALID")) return error.message;
    throw error;
  }
}

function start(seen: Seen): ProbeStep {
  const { name } = seen.probe.metadata;
  const number = (seen.probe.status?.lastRun?.number ?? 0) + 1;
  const reason = `${podName(name, number)} begins: ${dueReason(seen) ?? ""}`;
  return act<ProbeActions, "start">("start", { number, requested: requestOf(seen.probe) }, reason);
}

function restUntilNext(seen: Seen): ProbeStep {
  const { nowMs, probe, accepted } = seen;
  const waits = [
    (nextRunMs(seen) ?? Infinity) - nowMs,
    nextEndMs(accepted, nowMs) - nowMs,
    probe.spec.baseline === undefined ? Infinity : baselineMs,
  ];
  const nextMs = Math.min(...waits);
  return nextMs === Infinity ? rest() : rest(Math.max(1, Math.min(nextMs, recheckMsMax)));
}
