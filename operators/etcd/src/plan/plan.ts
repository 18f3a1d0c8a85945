/** Decides the next step for an etcd cluster by its rules. It is a pure function. */
import { planByRules } from "setpoint/sources";
import type { EtcdStep } from "./etcd-step.ts";
import { rules } from "./rules.ts";
import type { Situation } from "./situation.ts";

export const plan: (seen: Situation, nowMs: number) => EtcdStep = planByRules(rules);
