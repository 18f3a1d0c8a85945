/** The spec changes, and a member is lost, and the data stay. */
import { Pod } from "setpoint/kinds";
import { type Check, type CheckContext, type CheckStep, done, skipped, type StepReport, waiting } from "../check.ts";
import type { SpecChange } from "../engine-acceptance.ts";
import { change, instanceNamed, settled } from "../instances.ts";
import { namespaceOf, read } from "../objects.ts";
import { completeProbe, finishProbe, firstKeys, type Probe, startProbe } from "../probes.ts";

/** The client writes for at least ten seconds, so that the loss falls between its writes. */
const ledger: Probe = { name: "ledger", task: "write", keys: "ledger", count: 200, pauseMs: 50 };

const settledStep: CheckStep = (context) => settled(context);

export function changeCheck(changes: readonly SpecChange[]): Check {
  const none: CheckStep = async () => skipped("the engine names no changes of the spec");
  const steps = changes.flatMap((each) => [change(each), settledStep]);
  const readFirst = completeProbe({ ...firstKeys, name: "change-read", task: "read" });
  return { name: "change", needs: "create-and-use", steps: changes.length === 0 ? [none] : [...steps, ...readFirst] };
}

export const memberLost: Check = {
  name: "member-lost",
  needs: "create-and-use",
  steps: [
    startProbe(ledger),
    chooseVictim,
    deleteVictim,
    isReplaced,
    finishProbe(ledger),
    settledStep,
    ...completeProbe({ ...ledger, name: "ledger-read", task: "read" }),
  ],
};

/** It is noted before it is deleted: a run that goes on after a restart must not delete another one. */
async function chooseVictim(context: CheckContext): Promise<StepReport> {
  const name = context.acceptance.victim(await instanceNamed(context));
  if (name === undefined) return waiting("no member leads");
  const pod = await context.api.fresh(Pod, name, namespaceOf(context));
  if (pod === undefined) return waiting(`pod "${name}" of the leader does not exist`);
  context.note("victim", name);
  context.note("victimUID", pod.metadata.uid);
  return done;
}

async function deleteVictim(context: CheckContext): Promise<StepReport> {
  const pod = await read(context, Pod, context.notes["victim"] ?? "");
  if (pod !== undefined && pod.metadata.uid === context.notes["victimUID"]) await context.api.delete(pod);
  return done;
}

async function isReplaced(context: CheckContext): Promise<StepReport> {
  const { victim = "", victimUID } = context.notes;
  const pod = await context.api.fresh(Pod, victim, namespaceOf(context));
  if (pod?.metadata.uid === victimUID) return waiting(`pod "${victim}" is being deleted`);
  return settled(context);
}
