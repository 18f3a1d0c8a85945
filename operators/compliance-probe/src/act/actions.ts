/** Performs one step of a plan, and decides nothing. */
import type { ReconcileContext, Result } from "setpoint";
import { Pod } from "setpoint/kinds";
import { findAct } from "../acts/catalogue.ts";
import { type ActChange, type ActResult, ComplianceProbe } from "../kind/compliance-probe.ts";
import type { ProbeActions } from "../plan/plan.ts";
import { recordedRun } from "../plan/status.ts";
import { probePod } from "../run/probe-pod.ts";
import type { Seen } from "../seen/seen.ts";

/** An object gets at most 25 events at once. */
const eventsMax = 10;

/** Events come before the status: a crash between them repeats an event and loses none. */
export async function record(_: ProbeActions["record"], context: ReconcileContext, seen: Seen): Promise<Result | void> {
  if (seen.run === undefined) return;
  const { status, merged } = recordedRun(seen, seen.run);
  for (const change of merged.changes.slice(0, eventsMax)) reportChange(change, merged.results, context);
  const more = merged.changes.length - eventsMax;
  if (more > 0)
    context.event("Normal", "VerdictsChanged", `${more} more acts have another verdict; see status.changes`);
  await context.status(status);
  return context.requeueAfter(0, "the run is recorded");
}

function reportChange({ act, from, to }: ActChange, results: readonly ActResult[], { event }: ReconcileContext): void {
  const reason = results.find((each) => each.act === act)?.reason ?? "";
  const message = `${act}, to ${findAct(act)?.tries ?? "act"}, was ${from} and is ${to}: ${reason}`;
  if (to === "Allowed") event("Warning", "ForbiddenActAllowed", message);
  else event("Normal", to === "Denied" ? "ForbiddenActDenied" : "ForbiddenActUntried", message);
}

export async function discard({ pods }: ProbeActions["discard"], context: ReconcileContext): Promise<Result | void> {
  for (const name of pods) {
    const pod = context.get(Pod, name);
    if (pod !== undefined) await context.delete(pod);
  }
}

/** A status from before a restart may not have the last run yet. */
export async function start(
  { number, requested }: ProbeActions["start"],
  context: ReconcileContext,
  { probe }: Seen,
  image: string,
): Promise<Result | void> {
  const { name, namespace = "" } = probe.metadata;
  const fresh = await context.fresh(ComplianceProbe, name, namespace);
  if ((fresh?.status?.lastRun?.number ?? 0) >= number) return context.requeueAfter(0, "this run has been made before");
  await context.create(probePod(probe, { number, requested }, image));
}
