/** Applies what the plan names, and tells what it leaves out; decides nothing. */
import type { ReconcileContext, Result } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { Prometheus } from "../kind/prometheus.ts";
import type { Plan } from "../plan/outcome.ts";
import { prometheusFacts, statusOf } from "../plan/prometheus-status.ts";
import type { Seen } from "../seen/seen.ts";
import { prefixed } from "../workload/names.ts";
import { operatedService } from "../workload/objects.ts";
import { type ApplyPlan, report, tellRejected } from "./report.ts";

type Status = Omit<NonNullable<Prometheus["status"]>, "conditions">;

export async function act(seen: Seen, plan: Plan, context: ReconcileContext<Status>): Promise<Result> {
  if (plan.kind === "apply") await applyAll(seen, plan, context);
  return report({ object: seen.prometheus, facts: prometheusFacts(seen), plan, status: statusOf(seen, plan) }, context);
}

async function applyAll(seen: Seen, plan: ApplyPlan, context: ReconcileContext<Status>): Promise<void> {
  tellRejected(plan, context);
  await applyService(seen.prometheus, context);
  if (plan.hash === undefined && !seen.hasConfiguration) await createEmptySecret(seen.prometheus, context);
  await context.children.apply(plan.children);
}

/** All Prometheuses of a namespace share it, so it belongs to none of them and stays. */
async function applyService({ metadata, spec }: Prometheus, context: ReconcileContext<Status>): Promise<void> {
  if (spec.serviceName === undefined) await context.apply(operatedService(metadata.namespace ?? ""), { owner: false });
}

/** Pods wait for it; the user fills it. */
async function createEmptySecret({ metadata }: Prometheus, context: ReconcileContext<Status>): Promise<void> {
  const { name = "", namespace = "" } = metadata;
  await context.create(Secret({ name: prefixed(name), namespace, type: "Opaque" }), { owner: false });
}
