/** Applies what the plan of a Prometheus or of an agent names. */
import type { ReconcileContext, Result } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import type { Plan } from "../plan/outcome.ts";
import { agentFacts, prometheusFacts, type PrometheusStatus, statusOf } from "../plan/prometheus-status.ts";
import type { WorkloadFacts } from "../plan/conditions.ts";
import type { AgentSeen, Seen } from "../seen/seen.ts";
import { prefixed } from "../workload/names.ts";
import { operatedService } from "../workload/objects.ts";
import { act } from "./act.ts";

type Context = ReconcileContext<PrometheusStatus>;

export async function actOnPrometheus(seen: Seen, plan: Plan, context: Context): Promise<Result> {
  return actWith(seen, prometheusFacts(seen), plan, context);
}

export async function actOnAgent(seen: AgentSeen, plan: Plan, context: Context): Promise<Result> {
  return actWith(seen, agentFacts(seen), plan, context);
}

async function actWith(seen: Seen | AgentSeen, facts: WorkloadFacts, plan: Plan, context: Context): Promise<Result> {
  const { prometheus } = seen;
  const hasSidecars = "hasSidecars" in seen && seen.hasSidecars === true;
  if (plan.kind === "apply" && plan.hash === undefined && !seen.hasConfiguration)
    await createEmptySecret(prometheus, context);
  const service = prometheus.spec.serviceName === undefined ? operatedService(prometheus, hasSidecars) : undefined;
  return act({ object: prometheus, facts, plan, status: statusOf(seen, facts, plan), service }, context);
}

/** Pods wait for it; the user fills it. */
async function createEmptySecret(prometheus: AnyPrometheus, context: Context): Promise<void> {
  const { namespace = "" } = prometheus.metadata;
  await context.create(Secret({ name: prefixed(prometheus), namespace, type: "Opaque" }), { owner: false });
}
