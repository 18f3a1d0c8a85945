/** Applies what the plan of a ThanosRuler names. */
import type { ReconcileContext, Result } from "setpoint";
import type { Plan } from "../plan/outcome.ts";
import { rulerFacts, rulerStatus, type RulerStatus } from "../plan/ruler-plan.ts";
import type { RulerSeen } from "../seen/ruler-seen.ts";
import { rulersService } from "../workload/ruler-objects.ts";
import { act } from "./act.ts";

export async function actOnRuler(seen: RulerSeen, plan: Plan, context: ReconcileContext<RulerStatus>): Promise<Result> {
  const { ruler, servicePortName } = seen;
  const { metadata, spec } = ruler;
  const service = spec.serviceName === undefined ? rulersService(metadata.namespace ?? "", servicePortName) : undefined;
  return act({ object: ruler, facts: rulerFacts(seen), plan, status: rulerStatus(seen, plan), service }, context);
}
