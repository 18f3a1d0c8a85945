/** Writes conditions, status and Events of a workload, and says when to look at it again. */
import type { ReconcileContext, Result } from "setpoint";
import { conditionsOf, isLoaded, type WorkloadFacts } from "../plan/conditions.ts";
import type { Plan } from "../plan/outcome.ts";
import { refusalText } from "../select/refusal.ts";

/** Pods need some seconds until they see a new Secret. */
const lookAgainMs = 2_000;
/** Nothing tells of a change of a Secret that an object names, or of a reload that fails later. */
const recheckMs = 60_000;

export type ApplyPlan = Extract<Plan, { readonly kind: "apply" }>;

/** What of an object tells since when it waits. */
interface Conditioned {
  readonly status?: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

export interface Report<Status> {
  readonly object: Conditioned;
  readonly facts: WorkloadFacts;
  readonly plan: Plan;
  readonly status: Status;
}

/** Behind the objects: the status says that they are applied. */
export async function report<Status extends object>(
  { object, facts, plan, status }: Report<Status>,
  context: ReconcileContext<Status>,
): Promise<Result> {
  for (const condition of conditionsOf(facts, plan)) context.condition(condition);
  await context.status(status);
  if (plan.kind !== "apply") return context.requeueAfter(recheckMs, "the workload is left as it is");
  if (isLoaded(facts, plan.hash)) return context.requeueAfter(recheckMs, "ask the pods what they have loaded");
  const delayMs = nextLookMs(object, context.host.clock.now());
  return context.requeueAfter(delayMs, "wait until the pods load the configuration");
}

/** Soon at first; a reloader that has been silent for long is asked as seldom as one at rest. */
function nextLookMs({ status }: Conditioned, nowMs: number): number {
  const condition = status?.conditions.find(({ type }) => type === "ConfigurationLoaded");
  const waitedMs = condition?.status === "False" ? nowMs - Date.parse(condition.lastTransitionTime) : 0;
  return Math.min(recheckMs, Math.max(lookAgainMs, waitedMs / 4));
}

export function tellRejected<Status extends object>({ rejected }: ApplyPlan, context: ReconcileContext<Status>): void {
  for (const { object, refusal } of rejected)
    context.event("Warning", "InvalidConfiguration", `Left out of the configuration: ${refusalText(refusal)}`, object);
}
