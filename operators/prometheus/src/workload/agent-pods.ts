/** The StatefulSets or the DaemonSet of a PrometheusAgent; pure. */
import { DaemonSet, type StatefulSet } from "setpoint/kinds";
import type { Version } from "../generate/version.ts";
import type { PrometheusAgent } from "../kind/prometheus-agent.ts";
import { agentArguments } from "./arguments.ts";
import { labels, manager, ownLabels, podSelector, prefixed } from "./names.ts";
import { prometheusPod, type PrometheusPod } from "./prometheus-pod.ts";
import { minReady, podTemplate } from "./server-set.ts";
import { modeOf, shardOf } from "./stateful-set.ts";

export interface AgentWorkload {
  readonly version: Version;
  /** The operator's own image, which has the reloader. */
  readonly reloaderImage: string;
}

function partsOf({ spec }: PrometheusAgent, workload: AgentWorkload): Omit<PrometheusPod, "variables"> {
  const args = agentArguments(spec, workload.version);
  return { ...workload, args, ruleConfigMaps: [], sidecars: [], sidecarVolumes: [] };
}

export function agentStatefulSet(agent: PrometheusAgent, shard: number, workload: AgentWorkload): StatefulSet {
  return shardOf(agent, shard, partsOf(agent, workload));
}

export function agentDaemonSet(agent: PrometheusAgent, workload: AgentWorkload): DaemonSet {
  const { metadata, spec } = agent;
  const selector = podSelector(agent);
  const node = { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };
  return DaemonSet({
    name: prefixed(agent),
    namespace: metadata.namespace ?? "",
    labels: { ...metadata.labels, ...ownLabels(agent), [labels.mode]: modeOf(agent) },
    spec: {
      ...minReady(spec),
      selector: { matchLabels: selector },
      template: podTemplate({
        owner: agent,
        version: workload.version,
        container: "prometheus",
        selector,
        podLabels: { [labels.managedBy]: manager },
        pod: prometheusPod(agent, { ...partsOf(agent, workload), variables: [node] }),
      }),
    },
  });
}
