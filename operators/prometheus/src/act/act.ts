/** Applies what a plan names, and tells what it leaves out; decides nothing. */
import type { ReconcileContext, Result } from "setpoint";
import type { Service } from "setpoint/kinds";
import { type Report, report, tellRejected } from "./report.ts";

export interface Acting<Status> extends Report<Status> {
  /**
   * Gives the pods their names; undefined when the user has one. All workloads of a namespace share it, so it
   * belongs to none of them and stays.
   */
  readonly service: Service | undefined;
}

export async function act<Status extends object>(
  acting: Acting<Status>,
  context: ReconcileContext<Status>,
): Promise<Result> {
  const { plan, service } = acting;
  if (plan.kind === "apply") {
    tellRejected(plan, context);
    if (service !== undefined) await context.apply(service, { owner: false });
    await context.children.apply(plan.children);
  }
  return report(acting, context);
}
