/** Applies what the plan names, and tells what it leaves out; decides nothing. */
import type { ReconcileContext, Result } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { Prometheus } from "../kind/prometheus.ts";
import { conditionsOf, isLoaded, statusOf } from "../plan/conditions.ts";
import type { Plan } from "../plan/plan.ts";
import { refusalText } from "../select/refusal.ts";
import type { Seen } from "../seen/seen.ts";
import { prefixed } from "../workload/names.ts";
import { operatedService } from "../workload/objects.ts";

/** Pods need some seconds until they see a new Secret. */
const lookAgainMs = 2_000;
/** Nothing tells of a change of a Secret that a monitor names, or of a reload that fails later. */
const recheckMs = 60_000;

export async function act(seen: Seen, plan: Plan, context: ReconcileContext<Status>): Promise<Result> {
  if (plan.kind === "apply") await applyAll(seen, plan, context);
  // Behind the objects: the status says that they are applied.
  for (const condition of conditionsOf(seen, plan)) context.condition(condition);
  await context.status(statusOf(seen, plan));
  if (plan.kind !== "apply") return context.requeueAfter(recheckMs, "the Prometheus is left as it is");
  if (isLoaded(seen, plan.hash)) return context.requeueAfter(recheckMs, "ask the pods what they have loaded");
  const delayMs = nextLookMs(seen.prometheus, context.host.clock.now());
  return context.requeueAfter(delayMs, "wait until the pods load the configuration");
}

/** Soon at first; a reloader that has been silent for long is asked as seldom as one at rest. */
function nextLookMs({ status }: Prometheus, nowMs: number): number {
  const condition = status?.conditions.find(({ type }) => type === "ConfigurationLoaded");
  const waitedMs = condition?.status === "False" ? nowMs - Date.parse(condition.lastTransitionTime) : 0;
  return Math.min(recheckMs, Math.max(lookAgainMs, waitedMs / 4));
}

async function applyAll(seen: Seen, plan: ApplyPlan, context: ReconcileContext<Status>): Promise<void> {
  tellRejected(plan, context);
  await applyService(seen.prometheus, context);
  if (plan.hash === undefined && !seen.hasConfiguration) await createEmptySecret(seen.prometheus, context);
  await context.children.apply(plan.children);
}

type ApplyPlan = Extract<Plan, { readonly kind: "apply" }>;
type Status = Omit<NonNullable<Prometheus["status"]>, "conditions">;

function tellRejected({ rejected }: ApplyPlan, context: ReconcileContext<Status>): void {
  for (const { object, refusal } of rejected)
    context.event("Warning", "InvalidConfiguration", `Left out of the configuration: ${refusalText(refusal)}`, object);
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
