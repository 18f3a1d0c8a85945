/** The controller of AcceptanceRuns for one engine. */
import type { KubeObject } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import { controller, type ReconcileContext, type Result, seconds, type Stored } from "setpoint";
import type { PolicyRule } from "setpoint/install";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { AcceptanceRun, type CheckState } from "../kinds/acceptance-run.ts";
import { Restore } from "../kinds/restore.ts";
import { ServiceBinding } from "../kinds/service-binding.ts";
import type { ControllerOptions } from "../transfer/controller-options.ts";
import type { SuiteContext } from "./check.ts";
import { cleanUp } from "./clean-up.ts";
import type { AnyAcceptance, EngineAcceptance } from "./engine-acceptance.ts";
import { advanceSuite, beginSuite, currentCheck, isEnded, runRefusal } from "./suite.ts";

/** For what no watch shows, such as the deadline of a check. */
const recheckMs = seconds(2);

type Status = Omit<NonNullable<AcceptanceRun["status"]>, "conditions">;

/** What runs do beyond what data services do anyway, for `permissions` of `defineOperator`. */
export const acceptanceRules: readonly PolicyRule[] = [
  { apiGroups: [BackupStore.group], resources: [BackupStore.plural], verbs: ["create", "delete"] },
  { apiGroups: [ServiceBinding.group], resources: [ServiceBinding.plural], verbs: ["create", "delete"] },
];

/**
 * Runs the engine's acceptance tests in the namespace of each AcceptanceRun, one step a reconcile. All state
 * is in the status, so a restarted operator goes on with the step that it was at. Hand `acceptanceRules` to
 * `permissions`.
 */
export function acceptanceRuns<Instance extends KubeObject>(
  engineAcceptance: EngineAcceptance<Instance>,
  { image }: ControllerOptions,
): ReturnType<typeof controller> {
  // The kind says which instances there are; see `AnyAcceptance`.
  const acceptance = engineAcceptance as unknown as AnyAcceptance;
  const { kind, name } = acceptance.engine;
  return controller(AcceptanceRun, {
    name: `${name}-acceptance-runs`,
    finalizer: `data.setpoint.dev/${name}-acceptance`,
    select: { fieldSelector: `spec.target.apiGroup=${kind.group},spec.target.kind=${kind.kind}` },
    // Kinds that users create are watched and not owned: of those it has few of its own.
    owns: [Pod, PersistentVolumeClaim, Backup, Restore],
    watches: [kind, BackupStore, ServiceBinding],
    reconcile: (run, api) => reconcileRun(run, { acceptance, api, image }),
    async cleanup(run, api) {
      const report = await cleanUp({ run, acceptance, api, image });
      if (report.state === "waiting") return api.requeueAfter(recheckMs, report.message);
    },
  });
}

async function reconcileRun(cached: Stored<AcceptanceRun>, suite: Omit<SuiteContext, "run">): Promise<Result | void> {
  const { api } = suite;
  if (cached.status?.finishedAt !== undefined) return api.awaitChange();
  const { name, namespace, uid } = cached.metadata;
  // The cache may be late, and a step that is done must not begin again.
  const run = await api.fresh(AcceptanceRun, name, namespace);
  if (run?.metadata.uid !== uid || run.status?.finishedAt !== undefined) return api.awaitChange();
  const context = { ...suite, run };
  const refusal = run.status === undefined ? runRefusal(context) : undefined;
  if (refusal !== undefined) {
    api.event("Warning", "RunRefused", refusal);
    await report(run, { ...outcomeOf([]), phase: "Failed", message: refusal }, [], api);
    return api.awaitChange();
  }
  const before = run.status?.checks ?? beginSuite(context);
  const checks = await advanceSuite(before, context);
  announce(before, checks, api);
  await report(run, outcomeOf(checks), checks, api);
  const current = currentCheck(checks);
  if (current === undefined) return api.awaitChange();
  const isNext = positionOf(checks) !== positionOf(before);
  return api.requeueAfter(isNext ? 0 : recheckMs, textOf(current));
}

/** The check and step that a run is at. */
function positionOf(checks: readonly CheckState[]): string {
  const { name, state, step } = currentCheck(checks) ?? {};
  return `${name} ${state} ${step}`;
}

function textOf({ name, message = "in progress" }: CheckState): string {
  return `${name}: ${message}`;
}

function announce(before: readonly CheckState[], after: readonly CheckState[], { event }: ReconcileContext): void {
  for (const [index, check] of after.entries()) {
    const was = before[index];
    if (!isEnded(check) || was === undefined || isEnded(was)) continue;
    const type = check.state === "Failed" ? "Warning" : "Normal";
    event(type, `Check${check.state}`, check.message === undefined ? check.name : textOf(check));
  }
}

async function report(
  run: Stored<AcceptanceRun>,
  outcome: Outcome,
  checks: readonly CheckState[],
  api: ReconcileContext,
): Promise<void> {
  const now = timestampAt(api.host.clock.now());
  const { startedAt = now } = run.status ?? {};
  const { generation } = run.metadata;
  setConditions(outcome, api);
  const finish = outcome.phase === "Running" ? {} : { finishedAt: now };
  await api.status({ ...outcome, checks: [...checks], observedGeneration: generation, startedAt, ...finish });
}

type Outcome = Pick<Status, "phase" | "passed" | "failed" | "skipped"> & { readonly message: string };

function outcomeOf(checks: readonly CheckState[]): Outcome {
  const named = (state: CheckState["state"]): readonly string[] =>
    checks.filter((each) => each.state === state).map(({ name }) => name);
  const failures = named("Failed");
  const counts = { passed: named("Passed").length, failed: failures.length, skipped: named("Skipped").length };
  const current = currentCheck(checks);
  if (current !== undefined) return { ...counts, phase: "Running", message: textOf(current) };
  if (failures.length > 0) return { ...counts, phase: "Failed", message: `Failed checks: ${failures.join(", ")}` };
  return { ...counts, phase: "Passed", message: "No check failed" };
}

function setConditions({ phase, message }: Outcome, { condition }: ReconcileContext): void {
  const isOver = phase !== "Running";
  const passed = isOver ? (phase === "Passed" ? "True" : "False") : "Unknown";
  // The step that a run is at is in `status.message`; a condition that repeats it would change with every
  // step.
  const text = isOver ? message : "The run has not ended";
  condition(
    { type: "Complete", status: isOver ? "True" : "False", reason: phase, message: text },
    { type: "Passed", status: passed, reason: phase, message: text },
  );
}
