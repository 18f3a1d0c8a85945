/** The StatefulSet of one shard of a Prometheus or of an agent; pure. */
import type { StatefulSet } from "setpoint/kinds";
import type { Version } from "../generate/version.ts";
import type { AnyPrometheus, Prometheus } from "../kind/prometheus.ts";
import { prometheusArguments } from "./arguments.ts";
import {
  governingService,
  isAgent,
  labels,
  manager,
  ownLabels,
  podSelector,
  statefulSetName,
  volumeName,
} from "./names.ts";
import { prometheusPod, type PrometheusPod } from "./prometheus-pod.ts";
import { serverStatefulSet } from "./server-set.ts";
import { thanosSidecarOf } from "./thanos-sidecar.ts";

/** What the builder needs besides the object. */
export interface WorkloadSettings {
  readonly version: Version;
  /** The operator's own image, which has the reloader. */
  readonly reloaderImage: string;
  readonly ruleConfigMaps: readonly string[];
}

export function shardStatefulSet(prometheus: Prometheus, shard: number, settings: WorkloadSettings): StatefulSet {
  return shardOf(prometheus, shard, {
    ...settings,
    args: prometheusArguments(prometheus.spec, settings.version),
    ...thanosSidecarOf(prometheus, settings.version),
  });
}

/** Of a server or of an agent. */
export function shardOf(
  prometheus: AnyPrometheus,
  shard: number,
  parts: Omit<PrometheusPod, "variables">,
): StatefulSet {
  return serverStatefulSet({
    owner: prometheus,
    name: statefulSetName(prometheus, shard),
    labels: { ...ownLabels(prometheus), [labels.shard]: String(shard), [labels.mode]: modeOf(prometheus) },
    service: governingService(prometheus),
    replicas: replicasOf(prometheus),
    volume: volumeName(prometheus),
    version: parts.version,
    container: "prometheus",
    selector: podSelector(prometheus, shard),
    podLabels: { [labels.managedBy]: manager },
    pod: prometheusPod(prometheus, {
      ...parts,
      variables: [{ name: "SHARD", value: String(shard) }],
    }),
  });
}

export function modeOf(prometheus: Pick<AnyPrometheus, "kind">): "agent" | "server" {
  return isAgent(prometheus) ? "agent" : "server";
}

export function replicasOf({ spec }: Pick<AnyPrometheus, "spec">): number {
  return Math.max(spec.replicas ?? 1, 0);
}
