/** Reconciles BackupPlans of one engine. */
import type { ConditionInit, KubeObject, ReconcileContext, Result, Stored } from "setpoint";
import { controller, isAlreadyExists, watching } from "setpoint";
import type { EngineControl } from "../engine/control.ts";
import { Backup } from "../kinds/backup.ts";
import { BackupPlan } from "../kinds/backup-plan.ts";
import { dataLabels, scheduledAt } from "../kinds/labels.ts";
import { Restore } from "../kinds/restore.ts";
import { selectionOf } from "../kinds/selection.ts";
import { decidePlan, isActive, type PlanActions, type PlanStatus, type SeenPlan } from "./decide-plan.ts";
import { backupPlanMetrics } from "./plan-metrics.ts";
import { isGood } from "./retention.ts";

/** The controller of BackupPlans whose instances are of this engine; it ignores all others. */
export function planController<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
): ReturnType<typeof controller> {
  return controller<BackupPlan, SeenPlan, PlanActions>(BackupPlan, {
    name: `${engine.name}-backup-plan`,
    select: { fieldSelector: selectionOf(engine.kind) },
    watches: [
      // They are not owned: deleting a plan must not delete what protects the instance.
      watching(Backup, ({ metadata }) => {
        const plan = metadata.labels?.[dataLabels.plan];
        return plan === undefined ? [] : [{ namespace: metadata.namespace ?? "", name: plan }];
      }),
      Restore,
    ],
    observe: observePlan,
    plan: (seen) => decidePlan(seen).step,
    status: (seen) => decidePlan(seen).status,
    conditions: (seen) => [recoverable(decidePlan(seen).status)],
    objectMetrics: backupPlanMetrics,
    actions: { createBackup, deleteBackups },
  });
}

function observePlan(plan: Stored<BackupPlan>, { list, host: { clock } }: ReconcileContext): SeenPlan {
  const { name } = plan.metadata;
  const restores = list(Restore).filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return {
    plan,
    nowMs: clock.now(),
    backups: list(Backup, { labels: { [dataLabels.plan]: name } }),
    inUse: new Set(restores.flatMap(({ spec }) => spec.source.backup ?? [])),
  };
}

async function createBackup(
  { name, scheduledAt: at }: PlanActions["createBackup"],
  context: ReconcileContext,
  { plan, backups }: SeenPlan,
): Promise<Result | void> {
  const { namespace = "" } = plan.metadata;
  const { instance, store, deletionPolicy, deadlineSeconds, attempts, concurrency } = plan.spec;
  // A status from before a restart may not have the last run yet, and its Backup may have expired.
  const fresh = await context.fresh(BackupPlan, plan.metadata.name, namespace);
  if ((fresh?.status?.lastScheduleTime ?? "") >= at) return context.requeueAfter(0, "the run was made before");
  if (concurrency === "Replace")
    for (const each of backups) if (isActive(each) && each.metadata.name !== name) await context.delete(each);
  const backup = Backup({
    name,
    namespace,
    labels: { [dataLabels.plan]: plan.metadata.name },
    annotations: { [scheduledAt]: at },
    spec: { instance, store, deletionPolicy, deadlineSeconds, attempts },
  });
  try {
    await context.create(backup, { owner: false });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The cache may show a backup that a user has deleted meanwhile, so the one that stays is asked for. */
async function deleteBackups(
  { names, keeps }: PlanActions["deleteBackups"],
  context: ReconcileContext,
  { plan, backups }: SeenPlan,
): Promise<Result | void> {
  const kept = await context.fresh(Backup, keeps, plan.metadata.namespace);
  if (kept === undefined || !isGood(kept)) return context.requeueAfter(1_000, `Backup "${keeps}" is gone`);
  for (const each of backups) if (names.includes(each.metadata.name)) await context.delete(each);
}

function recoverable({ lastGoodBackup, message }: PlanStatus): ConditionInit {
  if (lastGoodBackup === undefined)
    return {
      type: "Recoverable",
      status: "False",
      reason: "NoGoodBackup",
      message: message ?? "no backup was verified yet",
    };
  return {
    type: "Recoverable",
    status: "True",
    reason: "BackupVerified",
    message: `the newest good backup is ${lastGoodBackup.name}`,
  };
}
