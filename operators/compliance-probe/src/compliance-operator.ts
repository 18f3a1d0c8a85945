/** The operator for ComplianceProbe, assembled of its parts. */
import { controller, defineOperator, type KindRef, type Operator } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { Pod } from "setpoint/kinds";
import { discard, record, start } from "./act/actions.ts";
import { ComplianceProbe } from "./kind/compliance-probe.ts";
import { observe } from "./observe/observe.ts";
import { plan, type ProbeActions } from "./plan/plan.ts";
import { conditionsOf, health, statusOf } from "./plan/status.ts";
import type { Seen } from "./seen/seen.ts";

const writes = new Map<KindRef, readonly WriteVerb[]>([[Pod, ["create", "delete"]]]);

/** `image` is the operator's own, which has the program of the pods too. */
export function complianceOperator(image: string): Operator {
  const probes = controller<ComplianceProbe, Seen, ProbeActions>(ComplianceProbe, {
    owns: [Pod],
    health,
    observe,
    plan,
    status: statusOf,
    conditions: conditionsOf,
    actions: { record, discard, start: (step, context, seen) => start(step, context, seen, image) },
  });
  return defineOperator({
    name: "compliance-probe",
    controllers: [probes],
    writes,
    permissions: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
  });
}
