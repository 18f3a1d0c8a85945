/** Resources by group and version in the order of discovery; the base of both forms of it and of OpenAPI. */
import type { DiscoveredResource } from "../../aggregation/extension-catalog.ts";
import { compareVersions } from "../../registry/version-order.ts";

export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly DiscoveredResource[];
}

export interface ServedGroup {
  readonly group: string;
  /** The preferred version first. */
  readonly versions: readonly ServedVersion[];
}

/**
 * The priority of kube-aggregator: these first, then the groups of CRDs by name. Clients resolve ambiguous
 * names by it.
 */
const groupOrder: readonly string[] = [
  "",
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
  "flowcontrol.apiserver.k8s.io",
];

const rankOf = (group: string): number => {
  const index = groupOrder.indexOf(group);
  return index === -1 ? groupOrder.length : index;
};

function compareGroups(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a < b ? -1 : a > b ? 1 : 0);
}

const compareResources = (a: DiscoveredResource, b: DiscoveredResource): number =>
  a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0;

/** Groups the definitions; the core group is the one without a name. */
export function listServedGroups(definitions: readonly DiscoveredResource[]): readonly ServedGroup[] {
  const byGroup = Map.groupBy(definitions, (each) => each.group);
  const groups = [...byGroup.keys()].toSorted(compareGroups);
  return groups.map((group) => ({ group, versions: listVersions(byGroup.get(group) ?? []) }));
}

function listVersions(definitions: readonly DiscoveredResource[]): readonly ServedVersion[] {
  const byVersion = Map.groupBy(definitions, (each) => each.version);
  const versions = [...byVersion.keys()].toSorted(compareVersions);
  return versions.map((version) => ({ version, resources: (byVersion.get(version) ?? []).toSorted(compareResources) }));
}

const customVerbOrder: readonly string[] = [
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "create",
  "update",
  "watch",
];

/**
 * Verbs as discovery lists them: by name for built-in resources, in upstream's fixed order for those of CRDs.
 */
export function discoveryVerbs(definition: DiscoveredResource): readonly string[] {
  if (!definition.custom) return definition.verbs.toSorted();
  return customVerbOrder.filter((verb) => (definition.verbs as readonly string[]).includes(verb));
}
