/** Tries forbidden acts in a pod and reports what was not denied; see the README beside this package. */
export { catalogue } from "./acts/catalogue.ts";
export type { Act, ActGroup, Attempt, Severity, Verdict } from "./acts/act.ts";
export { ComplianceProbe } from "./kind/compliance-probe.ts";
export { complianceOperator } from "./compliance-operator.ts";
