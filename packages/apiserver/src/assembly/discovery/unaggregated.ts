/** Discovery in its first form: a list of groups, and one list of resources for each version. */
import { apiVersionOf } from "@setpoint/apimachinery";
import type { DiscoveredResource } from "../../aggregation/extension-catalog.ts";
import type { SubresourceDefinition } from "../../registry/resource-definition.ts";
import { storageVersionHash } from "./etag.ts";
import { discoveryVerbs, type ServedGroup, type ServedVersion } from "./group-list.ts";

type Json = Readonly<Record<string, unknown>>;

/** `GET /api`. `serverAddress` is where clients outside of the cluster reach the server. */
export function apiVersions(serverAddress: string): Json {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

/** `GET /apis`. */
export function apiGroupList(groups: readonly ServedGroup[]): Json {
  const named = groups.filter((each) => each.group !== "");
  return { kind: "APIGroupList", apiVersion: "v1", groups: named.map(groupEntry) };
}

/** `GET /apis/<group>`. */
export function apiGroup(group: ServedGroup): Json {
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
}

function groupEntry({ group, versions }: ServedGroup): Json {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** `GET /apis/<group>/<version>` and `GET /api/v1`. */
export function apiResourceList(group: string, { version, resources }: ServedVersion): Json {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap((each) => [
      resourceEntry(each),
      ...each.subresources.map((sub) => subresourceEntry(each, sub)),
    ]),
  };
}

function resourceEntry(definition: DiscoveredResource): Json {
  const { resource, singular, namespaced, kind, shortNames, categories, group, storageVersion } = definition;
  return {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs: discoveryVerbs(definition),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    // Resources without stored objects (reviews) have no storage version.
    ...(definition.verbs.includes("get")
      ? { storageVersionHash: storageVersionHash(group, storageVersion, kind) }
      : {}),
  };
}

function subresourceEntry(definition: DiscoveredResource, { name, kind, verbs }: SubresourceDefinition): Json {
  const foreign = kind.version !== "" && (kind.group !== definition.group || kind.version !== definition.version);
  return {
    name: `${definition.resource}/${name}`,
    singularName: "",
    namespaced: definition.namespaced,
    ...(foreign ? { group: kind.group, version: kind.version } : {}),
    kind: kind.kind,
    verbs,
  };
}
