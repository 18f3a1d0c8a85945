/**
 * The table of all built-in resources: names and verbs from the discovery of a real server, behaviour from
 * the strategies.
 */
import { lookupTable, parseApiVersion } from "@setpoint/apimachinery";
import type { ResourceDefinition, ScalePaths, SubresourceDefinition, Verb } from "../resource-definition.ts";
import type { StructuralSchema } from "@setpoint/schema";
import { columnsFor } from "../table/columns.ts";
import { type DiscoveryResource, discoveryGroups, openApiSchemas } from "./api-data.ts";
import { autoscalerConversion } from "./autoscaler-conversion.ts";
import { eventConversion } from "./event-conversion.ts";
import { goTypeError, type Misfit } from "./go-type-error.ts";
import { resolveSchema } from "./resolve-schema.ts";
import { selectableFieldsFor } from "./selectable-fields.ts";
import { strategyFor } from "./strategy-table.ts";

const scalable: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"]);
const scalePaths: ScalePaths = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

/** Old groups' storage versions where more than one version is served. */
const storageVersions: Readonly<Record<string, string>> = lookupTable({ autoscaling: "v2" });

let definitions: readonly ResourceDefinition[] | undefined;
let componentsByKind: ReadonlyMap<string, string> | undefined;

/**
 * All built-in resources, including those that exist only to be created (reviews, bindings). The same array
 * every time.
 */
export function builtinResources(): readonly ResourceDefinition[] {
  definitions ??= discoveryGroups().flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((resource) => definitionOf(metadata.name ?? "", version, resource)),
    ),
  );
  return definitions;
}

/** The OpenAPI component of a kind. */
export function componentOf(group: string, version: string, kind: string): string | undefined {
  componentsByKind ??= indexComponents();
  return componentsByKind.get(`${group}/${version}/${kind}`);
}

function isKind(apiVersion: string, kind: string): boolean {
  const { group, version } = parseApiVersion(apiVersion);
  return componentOf(group, version, kind) !== undefined;
}

function indexComponents(): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const [name, schema] of Object.entries(openApiSchemas())) {
    for (const gvk of schema["x-kubernetes-group-version-kind"] ?? [])
      index.set(`${gvk.group}/${gvk.version}/${gvk.kind}`, name);
  }
  return index;
}

function definitionOf(group: string, version: string, from: DiscoveryResource): ResourceDefinition {
  const { resource } = from;
  // Discovery leaves group and version of a kind empty when they are those of the list it stands in.
  const kind = from.responseKind.kind;
  const component = componentOf(group, version, kind);
  const isEvent = kind === "Event";
  return {
    group,
    version,
    resource,
    singular: from.singularResource,
    kind,
    listKind: `${kind}List`,
    namespaced: from.scope === "Namespaced",
    verbs: from.verbs as readonly Verb[],
    shortNames: from.shortNames ?? [],
    categories: from.categories ?? [],
    subresources: (from.subresources ?? []).map((each) => subresourceOf(group, version, each)),
    ...(scalable.has(kind) ? { scale: scalePaths } : {}),
    get schema(): StructuralSchema {
      return component === undefined
        ? { type: "object", "x-kubernetes-preserve-unknown-fields": true }
        : resolveSchema(component);
    },
    ...(component === undefined ? {} : { describeMisfit: (misfit: Misfit) => goTypeError(component, misfit) }),
    isKind,
    custom: false,
    strategy: strategyFor(group, version, kind, component),
    columns: columnsFor(group, version, kind),
    selectableFields: selectableFieldsFor(group, kind),
    storagePrefix: isEvent ? "/events" : group === "" ? `/${resource}` : `/${group}/${resource}`,
    storageVersion: isEvent ? "v1" : (storageVersions[group] ?? version),
    ...conversionOf(group, version, kind),
    ...(kind === "Endpoints"
      ? { deprecationWarning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" }
      : {}),
  };
}

function subresourceOf(
  group: string,
  version: string,
  from: NonNullable<DiscoveryResource["subresources"]>[number],
): SubresourceDefinition {
  const { responseKind } = from;
  const own = responseKind.version === "";
  return {
    name: from.subresource,
    kind: {
      group: own ? group : responseKind.group,
      version: own ? version : responseKind.version,
      kind: responseKind.kind,
    },
    verbs: from.verbs,
  };
}

function conversionOf(group: string, version: string, kind: string): Pick<ResourceDefinition, "convert"> {
  if (kind === "Event" && group === "events.k8s.io") return { convert: eventConversion };
  if (kind === "HorizontalPodAutoscaler" && version === "v1") return { convert: autoscalerConversion };
  return {};
}
