/** Reads everything that the plan of a ThanosRuler needs into one snapshot; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { Namespace, StatefulSet } from "setpoint/kinds";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ThanosRuler } from "../kind/thanos-ruler.ts";
import { selected } from "../select/selection.ts";
import type { RulerSeen } from "../seen/ruler-seen.ts";
import { rulerLabel } from "../workload/thanos-names.ts";
import type { LoadedGateway } from "./loaded-gateway.ts";
import { observePods } from "./observe-pods.ts";
import { sharedPortName } from "./shared-port.ts";

export async function observeRuler(
  ruler: Stored<ThanosRuler>,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<RulerSeen> {
  const rules = context.list(PrometheusRule, { allNamespaces: true });
  return {
    ruler,
    rules: selected(ruler, "PrometheusRule", rules, context.list(Namespace, { allNamespaces: true })),
    statefulSets: context.children.list(StatefulSet),
    pods: await observePods({ [rulerLabel]: ruler.metadata.name }, context, gateway),
    servicePortName: sharedPortName(ThanosRuler, ruler, context),
  };
}
