/** Discovery in its second form: everything in two documents (`apidiscovery.k8s.io/v2`). */
import { type ApiRequest, deepFreeze } from "@setpoint/apimachinery";
import type { DiscoveredResource } from "../../aggregation/extension-catalog.ts";
import type { SubresourceDefinition } from "../../registry/resource-definition.ts";
import { acceptsType, parseAccept } from "./accept.ts";
import { contentHash } from "./etag.ts";
import { discoveryVerbs, type ServedGroup } from "./group-list.ts";

type Json = Readonly<Record<string, unknown>>;

/** Exactly this text: client-go takes any other Content-Type for the first form. */
export const aggregatedContentType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/**
 * The form that the client prefers among those it accepts. v2beta1 is no longer served, so its clauses count
 * for nothing.
 */
export function negotiateDiscovery(request: ApiRequest): "aggregated" | "plain" | "none" {
  for (const clause of parseAccept(request.headers?.["accept"])) {
    const { as, g, v } = clause.parameters;
    if (as === undefined) {
      if (
        ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"].some((each) =>
          acceptsType(clause, each),
        )
      )
        return "plain";
    } else if (acceptsType(clause, "application/json") && isDiscovery(as, g, v)) return "aggregated";
  }
  return "none";
}

function isDiscovery(as: string, group: string | undefined, version: string | undefined): boolean {
  return as === "APIGroupDiscoveryList" && group === "apidiscovery.k8s.io" && version === "v2";
}

export function groupDiscoveryList(groups: readonly ServedGroup[]): Json {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(groupItem),
  };
}

function groupItem({ group, versions }: ServedGroup): Json {
  return {
    metadata: group === "" ? {} : { name: group },
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(resourceItem),
      freshness: "Current",
    })),
  };
}

/** A document and its entity tag. */
export interface Aggregated {
  readonly body: Json;
  readonly etag: string;
}

/** The document for these groups. */
export function aggregatedDocument(groups: readonly ServedGroup[]): Aggregated {
  const body = groupDiscoveryList(groups);
  return { body: deepFreeze(body), etag: `"${contentHash(JSON.stringify(body))}"` };
}

function resourceItem(definition: DiscoveredResource): Json {
  const { resource, kind, namespaced, singular, shortNames, categories, subresources } = definition;
  return {
    resource,
    responseKind: responseKind(definition, { group: definition.group, version: definition.version, kind }),
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: discoveryVerbs(definition),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : { subresources: subresources.map((each) => subresourceItem(definition, each)) }),
  };
}

function subresourceItem(definition: DiscoveredResource, { name, kind, verbs }: SubresourceDefinition): Json {
  return { subresource: name, responseKind: responseKind(definition, kind), verbs };
}

/** Built-in resources leave out the group and version of a kind when they are those of the document. */
function responseKind(definition: DiscoveredResource, kind: SubresourceDefinition["kind"]): Json {
  const same = kind.version === "" || (kind.group === definition.group && kind.version === definition.version);
  if (!same) return kind;
  if (!definition.custom) return { group: "", version: "", kind: kind.kind };
  return { group: definition.group, version: definition.version, kind: kind.kind };
}
