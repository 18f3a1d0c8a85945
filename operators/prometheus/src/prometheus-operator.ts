/** The operator for the kinds of monitoring.coreos.com, assembled of its parts. */
import { controller, defineOperator, keyOf, type KindRef, type KubeObject, type Operator, watching } from "setpoint";
import { ConfigMap, DaemonSet, Namespace, Pod, Secret, Service, StatefulSet } from "setpoint/kinds";
import { actOnAlertmanager } from "./act/act-on-alertmanager.ts";
import { actOnRuler } from "./act/act-on-ruler.ts";
import { actOnAgent, actOnPrometheus } from "./act/act-on-prometheus.ts";
import { alertmanagerBindings } from "./bindings/alertmanager-bindings.ts";
import { bindingControllers } from "./bindings/binding-controllers.ts";
import { Alertmanager } from "./kind/alertmanager.ts";
import { AlertmanagerConfig } from "./kind/alertmanager-config.ts";
import { PodMonitor } from "./kind/pod-monitor.ts";
import { Probe } from "./kind/probe.ts";
import { Prometheus } from "./kind/prometheus.ts";
import { PrometheusAgent } from "./kind/prometheus-agent.ts";
import { PrometheusRule } from "./kind/prometheus-rule.ts";
import { ScrapeConfig } from "./kind/scrape-config.ts";
import { ServiceMonitor } from "./kind/service-monitor.ts";
import { ThanosRuler } from "./kind/thanos-ruler.ts";
import type { LoadedGateway } from "./observe/loaded-gateway.ts";
import { observeRuler } from "./observe/observe-ruler.ts";
import { type PoolGateway, silentPoolGateway } from "./observe/pool-gateway.ts";
import { observe, observeAgent } from "./observe/observe.ts";
import { observeAlertmanager } from "./observe/observe-alertmanager.ts";
import type { PlanSettings } from "./plan/outcome.ts";
import { planRuler } from "./plan/ruler-plan.ts";
import { planAgent } from "./plan/agent-plan.ts";
import { planAlertmanager } from "./plan/alertmanager-plan.ts";
import { plan } from "./plan/plan.ts";
import { targetControllers, targetPermissions } from "./targets/target-controllers.ts";
import { alertmanagerLabel } from "./workload/alertmanager-names.ts";
import { labels, managedSelector } from "./workload/names.ts";
import { rulerLabel } from "./workload/thanos-names.ts";

/** `image` of the settings is the operator's own, which has the reloader. */
export function prometheusOperator(
  gateway: LoadedGateway,
  settings: PlanSettings,
  pools: PoolGateway = silentPoolGateway,
): Operator {
  const prometheuses = controller(Prometheus, {
    owns: [
      StatefulSet,
      { kind: Secret, labelSelector: managedSelector },
      { kind: ConfigMap, labelSelector: managedSelector },
    ],
    watches: [
      wakingAll(ServiceMonitor, Prometheus),
      wakingAll(PodMonitor, Prometheus),
      wakingAll(Probe, Prometheus),
      wakingAll(ScrapeConfig, Prometheus),
      wakingAll(PrometheusRule, Prometheus),
      wakingAll(Namespace, Prometheus),
      watching(Service, () => [], { labelSelector: managedSelector }),
      wakingByPod(labels.name, "prometheus"),
    ],
    async reconcile(prometheus, context) {
      const seen = await observe(prometheus, context, gateway);
      return actOnPrometheus(seen, plan(seen, settings), context);
    },
  });
  const agents = controller(PrometheusAgent, {
    owns: [StatefulSet, DaemonSet, { kind: Secret, labelSelector: managedSelector }],
    watches: [
      wakingAll(ServiceMonitor, PrometheusAgent),
      wakingAll(PodMonitor, PrometheusAgent),
      wakingAll(Probe, PrometheusAgent),
      wakingAll(ScrapeConfig, PrometheusAgent),
      wakingAll(Namespace, PrometheusAgent),
      watching(Service, () => [], { labelSelector: managedSelector }),
      wakingByPod(labels.name, "prometheus-agent"),
    ],
    async reconcile(agent, context) {
      const seen = await observeAgent(agent, context, gateway);
      return actOnAgent(seen, planAgent(seen, settings), context);
    },
  });
  const rulers = controller(ThanosRuler, {
    owns: [
      StatefulSet,
      { kind: Secret, labelSelector: managedSelector },
      { kind: ConfigMap, labelSelector: managedSelector },
    ],
    watches: [
      wakingAll(PrometheusRule, ThanosRuler),
      wakingAll(Namespace, ThanosRuler),
      watching(Service, () => [], { labelSelector: managedSelector }),
      wakingByPod(rulerLabel, "thanos-ruler"),
    ],
    async reconcile(ruler, context) {
      const seen = await observeRuler(ruler, context, gateway);
      return actOnRuler(seen, planRuler(seen, settings), context);
    },
  });
  const alertmanagers = controller(Alertmanager, {
    owns: [StatefulSet, { kind: Secret, labelSelector: managedSelector }],
    watches: [
      wakingAll(AlertmanagerConfig, Alertmanager),
      wakingAll(Namespace, Alertmanager),
      watching(Service, () => [], { labelSelector: managedSelector }),
      wakingByPod(alertmanagerLabel, "alertmanager"),
    ],
    async reconcile(alertmanager, context) {
      const seen = await observeAlertmanager(alertmanager, context, gateway);
      return actOnAlertmanager(seen, planAlertmanager(seen, settings), context);
    },
  });
  return defineOperator({
    name: "prometheus",
    controllers: [
      prometheuses,
      agents,
      rulers,
      alertmanagers,
      ...bindingControllers,
      alertmanagerBindings,
      ...targetControllers(pools),
    ],
    permissions: [{ apiGroups: [""], resources: ["services"], verbs: ["create", "patch"] }, ...targetPermissions],
  });
}

/** Any workload may select the object, or may have selected it before. */
function wakingAll<T extends KubeObject>(kind: KindRef<T>, workload: KindRef): ReturnType<typeof watching<T>> {
  return watching(kind, (_, cache) => cache.list(workload, { allNamespaces: true }).map(keyOf));
}

/** The label's value is the name of the workload that the pod of this application belongs to. */
function wakingByPod(label: string, application: string): ReturnType<typeof watching<Pod>> {
  const keys = ({ metadata }: Pod): readonly { readonly name: string; readonly namespace: string }[] => {
    const name = metadata.labels?.[label];
    const isOther = metadata.labels?.["app.kubernetes.io/name"] !== application;
    return name === undefined || isOther ? [] : [{ name, namespace: metadata.namespace ?? "" }];
  };
  return watching(Pod, keys, { labelSelector: managedSelector });
}
