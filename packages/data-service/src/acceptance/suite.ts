/** The state of an acceptance run, and one step of it. */
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import { isForbidden, isInvalid } from "setpoint/client";
import { cleanUpName } from "../kinds/acceptance-check-names.ts";
import type { CheckState } from "../kinds/acceptance-run.ts";
import { type Check, type CheckContext, failed, type StepReport, type SuiteContext, waiting } from "./check.ts";
import { backupAndRestore, damagedBackupRefused } from "./checks/backups.ts";
import { binding } from "./checks/binding.ts";
import { changeCheck, memberLost } from "./checks/changes.ts";
import { createAndUse } from "./checks/create-and-use.ts";
import { removal } from "./checks/removal.ts";
import { cleanUp } from "./clean-up.ts";
import { MissingInstance } from "./instances.ts";

/** All checks of an engine for a run, in their order. */
function checksOf({ acceptance, run }: Pick<SuiteContext, "acceptance" | "run">): readonly Check[] {
  return [
    createAndUse,
    changeCheck(acceptance.changes(run.spec.version)),
    memberLost,
    binding,
    backupAndRestore,
    damagedBackupRefused,
    removal,
    { name: cleanUpName, steps: [cleanUp] },
  ];
}

/** Why a run cannot begin; undefined when it can. */
export function runRefusal({ acceptance, run, api }: SuiteContext): string | undefined {
  const { version } = run.spec;
  if (version === undefined) return undefined;
  const { name } = acceptance.engine;
  if (acceptance.versionRefusal === undefined)
    return `spec.version: the engine "${name}" has no versions to choose from; leave it out`;
  const refusal = acceptance.versionRefusal(version, api.host.clock.now());
  return refusal === undefined ? undefined : `spec.version: ${refusal}`;
}

/** The state before the first step: the named checks and those that they need, or all; and the clean-up. */
export function beginSuite(context: Pick<SuiteContext, "acceptance" | "run">): readonly CheckState[] {
  const checks = checksOf(context);
  const wanted = new Set<string>(context.run.spec.checks ?? checks.map(({ name }) => name)).add(cleanUpName);
  for (const { name, needs } of checks) if (needs !== undefined && wanted.has(name)) wanted.add(needs);
  return checks.filter(({ name }) => wanted.has(name)).map(({ name }) => ({ name, state: "Pending" }));
}

export function isEnded({ state }: CheckState): boolean {
  return state === "Passed" || state === "Failed" || state === "Skipped";
}

/** The check that the suite is at: the first one that has not ended. */
export function currentCheck(states: readonly CheckState[]): CheckState | undefined {
  return states.find((each) => !isEnded(each));
}

/**
 * Does the next step of the current check. A step whose outcome was not recorded is repeated, and finds what
 * it has done.
 */
export async function advanceSuite(
  states: readonly CheckState[],
  context: SuiteContext,
): Promise<readonly CheckState[]> {
  const state = currentCheck(states);
  const check = checksOf(context).find(({ name }) => name === state?.name);
  if (state === undefined) return states;
  const next =
    check === undefined
      ? finished(state, failed("this version of the operator does not have the check"), context)
      : state.state === "Pending"
        ? begun(state, check, states, context)
        : await stepped(state, check, context);
  return states.map((each) => (each === state ? next : each));
}

function begun(state: CheckState, { needs }: Check, states: readonly CheckState[], { api }: SuiteContext): CheckState {
  if (needs !== undefined && states.find(({ name }) => name === needs)?.state !== "Passed")
    return { ...state, state: "Skipped", message: `the check "${needs}" has not passed` };
  return { ...state, state: "Running", step: 0, startedAt: timestampAt(api.host.clock.now()) };
}

async function stepped(state: CheckState, check: Check, context: SuiteContext): Promise<CheckState> {
  const { step = 0, message: _message, ...rest } = state;
  const notes = { ...state.notes };
  const note = (name: string, value: string): void => {
    notes[name] = value;
  };
  const report = await perform(check, step, { ...context, notes, note });
  const noted = { ...rest, step, ...(Object.keys(notes).length === 0 ? {} : { notes }) };
  if (report.state === "waiting") return waited(noted, report.message, context);
  if (report.state === "done" && step + 1 < check.steps.length) return { ...noted, step: step + 1 };
  return finished(noted, report, context);
}

async function perform({ steps }: Check, step: number, context: CheckContext): Promise<StepReport> {
  try {
    return (await steps[step]?.(context)) ?? failed(`the check has no step ${step}`);
  } catch (error) {
    if (context.api.signal.aborted || isSetpointError(error, "ERR_ASSERTION")) throw error;
    return isFinal(error) ? failed(messageOf(error)) : waiting(messageOf(error));
  }
}

/** Nothing that a run could wait for changes these. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof MissingInstance ||
    isForbidden(error) ||
    isInvalid(error) ||
    isSetpointError(error, "ERR_NOT_OWNED") ||
    isSetpointError(error, "ERR_NOT_DECLARED")
  );
}

function waited(state: CheckState, message: string, context: SuiteContext): CheckState {
  const { checkTimeoutSeconds } = context.run.spec;
  if (secondsOf(state, context) <= checkTimeoutSeconds) return { ...state, message };
  return finished(state, failed(`not finished within ${checkTimeoutSeconds} s: ${message}`), context);
}

const outcomes = { done: "Passed", waiting: "Failed", failed: "Failed", skipped: "Skipped" } as const;

function finished(
  { step: _step, notes: _notes, ...state }: CheckState,
  report: StepReport,
  context: SuiteContext,
): CheckState {
  return {
    ...state,
    state: outcomes[report.state],
    ...(report.state === "done" ? {} : { message: report.message }),
    finishedAt: timestampAt(context.api.host.clock.now()),
    seconds: Math.round(secondsOf(state, context)),
  };
}

function secondsOf({ startedAt = "" }: CheckState, { api }: SuiteContext): number {
  return Math.max(0, api.host.clock.now() - Date.parse(startedAt)) / 1_000;
}
