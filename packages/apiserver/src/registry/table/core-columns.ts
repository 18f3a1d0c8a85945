/** Columns of the core group except pods, and of EndpointSlices and other kinds next to Services. */
import { lookupTable, formatAge, type UnstructuredObject } from "@setpoint/apimachinery";
import { type JsonObject, objectAt, objectsAt, stringAt, valueAt, textOf } from "../json-fields.ts";
import type { TableColumn } from "../../response/table-column.ts";
import {
  ageColumn,
  createdAtColumn,
  integerColumn,
  none,
  numeric,
  pathColumn,
  selectorText,
  templateSpec,
  textColumn,
  wide,
  workloadColumns,
} from "./column-kinds.ts";
import { podColumns } from "./pod-columns.ts";

function dataCount(object: UnstructuredObject): number {
  return Object.keys(objectAt(object, "data")).length + Object.keys(objectAt(object, "binaryData")).length;
}

/** Cells that hold numbers in columns of strings, as upstream has them. */
const dataColumn = textColumn("Data", dataCount);

const modes: Readonly<Record<string, string>> = lookupTable({
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
});

function accessModes(value: unknown): string {
  return Array.isArray(value) ? [...new Set(value.map((mode) => modes[textOf(mode)] ?? textOf(mode)))].join(",") : "";
}

function nodeStatus(node: UnstructuredObject): string {
  const ready = objectsAt(node, "status", "conditions").find((each) => each["type"] === "Ready");
  const states = [ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady"];
  if (valueAt(node, "spec", "unschedulable") === true) states.push("SchedulingDisabled");
  return states.join(",");
}

function nodeRoles(node: UnstructuredObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = Object.entries(node.metadata.labels ?? {});
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(prefix)) return key.length > prefix.length ? [key.slice(prefix.length)] : [];
    return key === "kubernetes.io/role" && value !== "" ? [value] : [];
  });
  return roles.length === 0 ? none : roles.toSorted().join(",");
}

function nodeAddress(type: string): (node: UnstructuredObject) => string {
  return (node) =>
    stringAt(
      objectsAt(node, "status", "addresses").find((each) => each["type"] === type),
      "address",
    ) || none;
}

function externalIps(service: UnstructuredObject): string {
  const type = stringAt(service, "spec", "type");
  if (type === "ExternalName") return stringAt(service, "spec", "externalName");
  const given = valueAt(service, "spec", "externalIPs");
  const fixed = Array.isArray(given) ? given.map(String) : [];
  const balanced = objectsAt(service, "status", "loadBalancer", "ingress").map(
    (each) => stringAt(each, "ip") || stringAt(each, "hostname"),
  );
  const all = type === "LoadBalancer" ? [...balanced, ...fixed] : fixed;
  if (all.length > 0) return all.join(",");
  return type === "LoadBalancer" ? "<pending>" : none;
}

function servicePorts(service: UnstructuredObject): string {
  const ports = objectsAt(service, "spec", "ports").map((port) => {
    const nodePort = numeric(port["nodePort"]);
    return `${textOf(port["port"])}${nodePort > 0 ? `:${nodePort}` : ""}/${stringAt(port, "protocol")}`;
  });
  return ports.length === 0 ? none : ports.join(",");
}

const maxEndpoints = 3;

function endpointsText(endpoints: UnstructuredObject): string {
  const shown: string[] = [];
  let count = 0;
  for (const subset of objectsAt(endpoints, "subsets")) {
    const addresses = objectsAt(subset, "addresses").map((each) => stringAt(each, "ip"));
    const ports = objectsAt(subset, "ports");
    count += addresses.length * Math.max(1, ports.length);
    shown.push(...firstOf(addresses, ports, maxEndpoints - shown.length));
  }
  return count === 0 ? none : `${shown.join(",")}${moreThan(count)}`;
}

/** A client chooses the numbers of both, and could not wait for all pairs of them. */
function firstOf(addresses: readonly string[], ports: readonly JsonObject[], count: number): readonly string[] {
  const some = addresses.slice(0, count);
  if (ports.length === 0) return some;
  const pairs = ports.slice(0, count).flatMap((port) => some.map((address) => `${address}:${textOf(port["port"])}`));
  return pairs.slice(0, count);
}

function moreThan(count: number): string {
  return count > maxEndpoints ? ` + ${count - maxEndpoints} more...` : "";
}

function shortened(all: readonly string[]): string {
  if (all.length === 0) return none;
  return `${all.slice(0, maxEndpoints).join(",")}${moreThan(all.length)}`;
}

function sliceEndpoints(slice: UnstructuredObject): string {
  const all = objectsAt(slice, "endpoints").flatMap((each) =>
    Array.isArray(each["addresses"]) ? each["addresses"].map(String) : [],
  );
  return all.length === 0 ? "<unset>" : shortened(all);
}

function slicePorts(slice: UnstructuredObject): string {
  const ports = objectsAt(slice, "ports").map((port) => (port["port"] === undefined ? "*" : textOf(port["port"])));
  return ports.length === 0 ? "<unset>" : shortened(ports);
}

function involved(event: UnstructuredObject): JsonObject {
  const object = objectAt(event, "involvedObject");
  return Object.keys(object).length > 0 ? object : objectAt(event, "regarding");
}

function eventTime(event: UnstructuredObject, first: boolean): string {
  const series = stringAt(event, "series", "lastObservedTime");
  const count = first ? "firstTimestamp" : "lastTimestamp";
  const deprecated = first ? "deprecatedFirstTimestamp" : "deprecatedLastTimestamp";
  const own = stringAt(event, count) || stringAt(event, deprecated);
  return first ? own || stringAt(event, "eventTime") : series || own || stringAt(event, "eventTime");
}

function eventSource(event: UnstructuredObject): string {
  const source = objectAt(event, event["source"] === undefined ? "deprecatedSource" : "source");
  const component =
    stringAt(source, "component") || stringAt(event, "reportingComponent") || stringAt(event, "reportingController");
  const host = stringAt(source, "host") || stringAt(event, "reportingInstance");
  return host === "" ? component : `${component}, ${host}`;
}

/**
 * Events are the one kind whose first column is not Name: these columns are complete, with Name among them.
 */
export const eventColumns: readonly TableColumn[] = [
  textColumn("Last Seen", (event, now) => formatAge(eventTime(event, false) || null, now)),
  pathColumn("Type", "type"),
  pathColumn("Reason", "reason"),
  textColumn("Object", (event) => {
    const object = involved(event);
    const name = stringAt(object, "name");
    return `${stringAt(object, "kind").toLowerCase()}${name === "" ? "" : `/${name}`}`;
  }),
  textColumn("Subobject", (event) => stringAt(involved(event), "fieldPath"), wide),
  textColumn("Source", eventSource, wide),
  textColumn("Message", (event) => (stringAt(event, "message") || stringAt(event, "note")).trim()),
  textColumn("First Seen", (event, now) => formatAge(eventTime(event, true) || null, now), wide),
  textColumn(
    "Count",
    (event) =>
      numeric(valueAt(event, "series", "count")) || numeric(event["count"]) || numeric(event["deprecatedCount"]) || 1,
    wide,
  ),
  { name: "Name", type: "string", format: "name", priority: wide, cell: (event) => event.metadata.name ?? "" },
];

function quotaText(quota: UnstructuredObject, limits: boolean): string {
  const hard = objectAt(quota, "status", "hard");
  const names = Object.keys(hard)
    .filter((name) => name.startsWith("limits") === limits)
    .toSorted();
  return names
    .map((name) => `${name}: ${textOf(valueAt(quota, "status", "used", name) ?? 0)}/${textOf(hard[name])}`)
    .join(", ");
}

function claimOf(volume: UnstructuredObject): string {
  const reference = objectAt(volume, "spec", "claimRef");
  return Object.keys(reference).length === 0
    ? ""
    : `${stringAt(reference, "namespace")}/${stringAt(reference, "name")}`;
}

function terminatingOr(path: readonly string[]): (object: UnstructuredObject) => string {
  return (object) => (object.metadata.deletionTimestamp === undefined ? stringAt(object, ...path) : "Terminating");
}

/** By `group/Kind`. */
export const coreColumns: Readonly<Record<string, readonly TableColumn[]>> = lookupTable({
  "/Pod": podColumns,
  "/PodTemplate": [
    ...workloadColumns(["template", "spec"], undefined).map((column) => ({ ...column, priority: 0 })),
    textColumn("Pod Labels", (object) => selectorText(objectAt(object, "template", "metadata", "labels"))),
  ],
  "/ConfigMap": [dataColumn, ageColumn],
  "/Secret": [pathColumn("Type", "type"), dataColumn, ageColumn],
  "/ServiceAccount": [ageColumn],
  "/Namespace": [pathColumn("Status", "status.phase"), ageColumn],
  "/Node": [
    textColumn("Status", nodeStatus),
    textColumn("Roles", nodeRoles),
    ageColumn,
    pathColumn("Version", "status.nodeInfo.kubeletVersion"),
    textColumn("Internal-IP", nodeAddress("InternalIP"), wide),
    textColumn("External-IP", nodeAddress("ExternalIP"), wide),
    pathColumn("OS-Image", "status.nodeInfo.osImage", "<unknown>", wide),
    pathColumn("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>", wide),
    pathColumn("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>", wide),
  ],
  "/Service": [
    pathColumn("Type", "spec.type"),
    pathColumn("Cluster-IP", "spec.clusterIP", none),
    textColumn("External-IP", externalIps),
    textColumn("Port(s)", servicePorts),
    ageColumn,
    textColumn("Selector", (service) => selectorText(valueAt(service, "spec", "selector")), wide),
  ],
  "/Endpoints": [textColumn("Endpoints", endpointsText), ageColumn],
  "discovery.k8s.io/EndpointSlice": [
    pathColumn("AddressType", "addressType"),
    textColumn("Ports", slicePorts),
    textColumn("Endpoints", sliceEndpoints),
    ageColumn,
  ],
  "/Event": eventColumns,
  "events.k8s.io/Event": eventColumns,
  "/LimitRange": [createdAtColumn],
  "/ResourceQuota": [
    textColumn("Request", (quota) => quotaText(quota, false)),
    textColumn("Limit", (quota) => quotaText(quota, true)),
    ageColumn,
  ],
  "/ReplicationController": [
    integerColumn("Desired", "spec.replicas"),
    integerColumn("Current", "status.replicas"),
    integerColumn("Ready", "status.readyReplicas"),
    ageColumn,
    ...workloadColumns(templateSpec, ["spec", "selector"]),
  ],
  "/PersistentVolumeClaim": [
    textColumn("Status", terminatingOr(["status", "phase"])),
    pathColumn("Volume", "spec.volumeName"),
    textColumn("Capacity", (claim) =>
      stringAt(claim, "spec", "volumeName") === "" ? "" : stringAt(claim, "status", "capacity", "storage"),
    ),
    textColumn("Access Modes", (claim) =>
      stringAt(claim, "spec", "volumeName") === "" ? "" : accessModes(valueAt(claim, "status", "accessModes")),
    ),
    pathColumn("StorageClass", "spec.storageClassName"),
    pathColumn("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    ageColumn,
    pathColumn("VolumeMode", "spec.volumeMode", "<unset>", wide),
  ],
  "/PersistentVolume": [
    pathColumn("Capacity", "spec.capacity.storage"),
    textColumn("Access Modes", (volume) => accessModes(valueAt(volume, "spec", "accessModes"))),
    pathColumn("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    textColumn("Status", terminatingOr(["status", "phase"])),
    textColumn("Claim", claimOf),
    pathColumn("StorageClass", "spec.storageClassName"),
    pathColumn("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    pathColumn("Reason", "status.reason"),
    ageColumn,
    pathColumn("VolumeMode", "spec.volumeMode", "<unset>", wide),
  ],
});
