/** What a pod may learn about itself: fields and resources, as text. */
import type { Container, Pod } from "@setpoint/api";
import { lookupTable } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";

/** What the node knows and the pod's description does not. */
export interface PodFacts {
  readonly podIP: string;
  readonly hostIP: string;
  readonly nodeName: string;
  readonly hostname: string;
  readonly cpus: number;
  readonly memoryBytes: number;
}

export function fieldValue(pod: Pod, facts: PodFacts, fieldPath: string): string {
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath);
  if (keyed !== null) return pod.metadata[keyed[1] as "labels" | "annotations"]?.[keyed[2] ?? ""] ?? "";
  const values: Readonly<Record<string, string | undefined>> = {
    "metadata.name": pod.metadata.name,
    "metadata.namespace": pod.metadata.namespace,
    "metadata.uid": pod.metadata.uid,
    "metadata.labels": formatMap(pod.metadata.labels),
    "metadata.annotations": formatMap(pod.metadata.annotations),
    "spec.nodeName": facts.nodeName,
    "spec.serviceAccountName": pod.spec.serviceAccountName ?? "default",
    "status.podIP": facts.podIP,
    "status.podIPs": facts.podIP,
    "status.hostIP": facts.hostIP,
    "status.hostIPs": facts.hostIP,
  };
  if (fieldPath in values) return values[fieldPath] ?? "";
  throw nodeError("ERR_CONTAINER_CONFIG", `unsupported fieldPath: ${fieldPath}`);
}

export interface ResourceFieldRef {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

/** `limits.memory` of a container without a limit is what the node has, as on any kubelet. */
export function resourceValue(pod: Pod, facts: PodFacts, containerName: string, ref: ResourceFieldRef): string {
  const name = ref.containerName ?? containerName;
  const container = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((each) => each.name === name);
  const [side = "", ...rest] = ref.resource.split(".");
  const resource = rest.join(".");
  const quantity = quantityOf(container, side, resource) ?? fallback(facts, side, resource);
  const divisor = ref.divisor === undefined || ref.divisor === "0" ? 1 : quantityNumber(ref.divisor);
  return String(Math.ceil(quantity / divisor));
}

function quantityOf(container: Container | undefined, side: string, resource: string): number | undefined {
  const values = side === "limits" ? container?.resources?.limits : container?.resources?.requests;
  const text = values?.[resource];
  return text === undefined ? undefined : quantityNumber(text);
}

function fallback(facts: PodFacts, side: string, resource: string): number {
  if (side === "requests") return 0;
  return resource === "cpu" ? facts.cpus : resource === "memory" ? facts.memoryBytes : 0;
}

const multipliers: Readonly<Record<string, number>> = lookupTable({
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
});

/** A Quantity as a number; precise enough for what a downward API rounds up anyway. */
export function quantityNumber(text: string): number {
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(text);
  return Number(match?.[1] ?? 0) * (multipliers[match?.[2] ?? ""] ?? 1);
}

function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.keys(map ?? {})
    .sort()
    .map((key) => `${key}=${JSON.stringify(map?.[key] ?? "")}`)
    .join("\n");
}
