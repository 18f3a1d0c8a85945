/** Applies what the plan of an Alertmanager names, and tells what it leaves out; decides nothing. */
import type { ReconcileContext, Result } from "setpoint";
import { alertmanagerFacts, alertmanagerStatus, type AlertmanagerStatus } from "../plan/alertmanager-status.ts";
import type { Plan } from "../plan/outcome.ts";
import type { AlertmanagerSeen } from "../seen/alertmanager-seen.ts";
import { alertmanagersService } from "../workload/alertmanager-objects.ts";
import { report, tellRejected } from "./report.ts";

export async function actOnAlertmanager(
  seen: AlertmanagerSeen,
  plan: Plan,
  context: ReconcileContext<AlertmanagerStatus>,
): Promise<Result> {
  const { alertmanager } = seen;
  if (plan.kind === "apply") {
    tellRejected(plan, context);
    if (alertmanager.spec.serviceName === undefined) await applyService(seen, context);
    await context.children.apply(plan.children);
  }
  const status = alertmanagerStatus(seen, plan);
  return report({ object: alertmanager, facts: alertmanagerFacts(seen), plan, status }, context);
}

/** All Alertmanagers of a namespace share it, so it belongs to none of them and stays. */
async function applyService(
  { alertmanager, servicePortName }: AlertmanagerSeen,
  context: ReconcileContext<AlertmanagerStatus>,
): Promise<void> {
  const service = alertmanagersService(alertmanager.metadata.namespace ?? "", servicePortName);
  await context.apply(service, { owner: false });
}
