/** Applies what the plan of an Alertmanager names. */
import type { ReconcileContext, Result } from "setpoint";
import { alertmanagerFacts, alertmanagerStatus, type AlertmanagerStatus } from "../plan/alertmanager-status.ts";
import type { Plan } from "../plan/outcome.ts";
import type { AlertmanagerSeen } from "../seen/alertmanager-seen.ts";
import { alertmanagersService } from "../workload/alertmanager-objects.ts";
import { act } from "./act.ts";

export async function actOnAlertmanager(
  seen: AlertmanagerSeen,
  plan: Plan,
  context: ReconcileContext<AlertmanagerStatus>,
): Promise<Result> {
  const { alertmanager, servicePortName } = seen;
  const { metadata, spec } = alertmanager;
  const service =
    spec.serviceName === undefined ? alertmanagersService(metadata.namespace ?? "", servicePortName) : undefined;
  const status = alertmanagerStatus(seen, plan);
  return act({ object: alertmanager, facts: alertmanagerFacts(seen), plan, status, service }, context);
}
