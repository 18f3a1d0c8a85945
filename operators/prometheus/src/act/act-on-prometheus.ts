/** Applies what the plan of a Prometheus names. */
import type { ReconcileContext, Result } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { Plan } from "../plan/outcome.ts";
import { prometheusFacts, type PrometheusStatus, statusOf } from "../plan/prometheus-status.ts";
import type { Seen } from "../seen/seen.ts";
import { prefixed } from "../workload/names.ts";
import { operatedService } from "../workload/objects.ts";
import { act } from "./act.ts";

export async function actOnPrometheus(
  seen: Seen,
  plan: Plan,
  context: ReconcileContext<PrometheusStatus>,
): Promise<Result> {
  const { prometheus } = seen;
  if (plan.kind === "apply" && plan.hash === undefined && !seen.hasConfiguration)
    await createEmptySecret(seen, context);
  const service = prometheus.spec.serviceName === undefined ? operatedService(prometheus) : undefined;
  const status = statusOf(seen, plan);
  return act({ object: prometheus, facts: prometheusFacts(seen), plan, status, service }, context);
}

/** Pods wait for it; the user fills it. */
async function createEmptySecret({ prometheus }: Seen, context: ReconcileContext<PrometheusStatus>): Promise<void> {
  const { namespace = "" } = prometheus.metadata;
  await context.create(Secret({ name: prefixed(prometheus), namespace, type: "Opaque" }), { owner: false });
}
