/** The last relabelings of each job: they distribute the targets over the shards. */
import type { AnyPrometheus } from "../kind/prometheus.ts";
import { type Generation, isSection, type Section, type Value } from "./generation.ts";

const topologyLabel = "__tmp_topology";
const hashLabel = "__tmp_hash";
const optOutLabel = "__tmp_disable_sharding";
const nodeZone = "__meta_kubernetes_node_label_topology_kubernetes_io_zone";
const nodeZonePresent = "__meta_kubernetes_node_labelpresent_topology_kubernetes_io_zone";
const podZone = "__meta_kubernetes_pod_label_topology_kubernetes_io_zone";
const podZonePresent = "__meta_kubernetes_pod_labelpresent_topology_kubernetes_io_zone";
const sliceZone = "__meta_kubernetes_endpointslice_endpoint_zone";

export function shardCount({ prometheus }: { readonly prometheus: Pick<AnyPrometheus, "spec"> }): number {
  return Math.max(prometheus.spec.shards ?? 1, 1);
}

/** The zones that shards are bound to; none unless that is chosen and allowed. */
export function shardZones({ prometheus, options }: Generation): readonly string[] {
  const { mode, topology } = prometheus.spec.shardingStrategy ?? {};
  return options.topologySharding === true && mode === "Topology" ? (topology?.values ?? []) : [];
}

/** `addressLabel` names what is hashed, unless a user's relabeling has set the hash. */
export function shardingSteps(generation: Generation, addressLabel = "__address__"): readonly Section[] {
  if (generation.isPerNode) return [];
  const shards = shardCount(generation);
  const zones = shardZones(generation);
  const isByZone = zones.length > 0;
  const modulus = isByZone ? Math.max(Math.floor(shards / zones.length), 1) : shards;
  const shardVariable = isByZone ? "$(INZONE_SHARD)" : "$(SHARD)";
  return [
    ...(generation.options.retainShards === true ? keepInActiveShards(shards) : []),
    ...(isByZone ? keepOwnZone(generation) : []),
    setIfEmpty([addressLabel], hashLabel, "(.+);"),
    { source_labels: [hashLabel], target_label: hashLabel, modulus, action: "hashmod" },
    { source_labels: [hashLabel, optOutLabel], regex: `${shardVariable};|.+;.+`, action: "keep" },
  ];
}

/** A job whose own steps hash distributes its targets itself. */
export function hashesItself(steps: readonly Value[]): boolean {
  return steps.some((step) => isSection(step) && step["action"] === "hashmod");
}

function setIfEmpty(sources: readonly string[], target: string, regex: string): Section {
  return { source_labels: [...sources, target], target_label: target, regex, replacement: "$1", action: "replace" };
}

/** A shard that was scaled away and is retained has a number out of this range. */
function keepInActiveShards(shards: number): readonly Section[] {
  const numbers = Array.from({ length: shards }, (_, shard) => String(shard));
  return [
    { target_label: "__tmp_current_shard", replacement: "$(SHARD)", action: "replace" },
    { source_labels: ["__tmp_current_shard"], regex: numbers.join("|"), action: "keep" },
  ];
}

function keepOwnZone({ options }: Generation): readonly Section[] {
  const ofPod = options.podTopologyLabels === true;
  return [
    setIfEmpty([sliceZone], topologyLabel, "(.+);"),
    setIfEmpty(ofPod ? [podZone, podZonePresent] : [nodeZone, nodeZonePresent], topologyLabel, "(.+);true;"),
    { source_labels: [topologyLabel, optOutLabel], regex: "$(TOPOLOGY_ZONE);|.+;.+", action: "keep" },
  ];
}
