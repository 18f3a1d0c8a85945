/** One snapshot of a ThanosRuler and of the rules that it evaluates. */
import type { Stored } from "setpoint";
import type { StatefulSet } from "setpoint/kinds";
import type { PrometheusRule } from "../kind/prometheus-rule.ts";
import type { ThanosRuler } from "../kind/thanos-ruler.ts";
import type { SeenPod } from "./seen.ts";

export interface RulerSeen {
  readonly ruler: Stored<ThanosRuler>;
  /** Selected, valid or not. */
  readonly rules: readonly Stored<PrometheusRule>[];
  readonly statefulSets: readonly Stored<StatefulSet>[];
  readonly pods: readonly SeenPod[];
  /** Of the Service that all ThanosRulers of the namespace share. */
  readonly servicePortName: string;
}
