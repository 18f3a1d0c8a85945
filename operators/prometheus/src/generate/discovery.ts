/** How Prometheus finds targets: by the API server. */
import type { AttachMetadata, NamespaceSelector, Selector } from "../kind/scrape-fields.ts";
import { field, type Generation, given, has, type Section, since } from "./generation.ts";
import { authorization, basicAuth, proxyConfig, tlsConfig } from "./http-settings.ts";
import { shardZones } from "./sharding.ts";

export type DiscoveryRole = "endpoints" | "endpointslice" | "pod" | "ingress";

/** The role for the endpoints of Services; `asked` is that of the monitor, else of the Prometheus. */
export function endpointsRole(generation: Generation, asked?: string): DiscoveryRole {
  const role = asked ?? generation.prometheus.spec.serviceDiscoveryRole;
  const isPossible = generation.options.endpointSlices === true && has(generation, "2.21.0");
  return isPossible && role === "EndpointSlice" ? "endpointslice" : "endpoints";
}

export interface Discovery {
  readonly role: DiscoveryRole;
  /** The namespace of the object that asks. */
  readonly namespace: string;
  /** Where the Secrets are that give access to the API server; default: the namespace above. */
  readonly accessNamespace?: string;
  readonly namespaceSelector?: NamespaceSelector | undefined;
  readonly attachMetadata?: AttachMetadata | undefined;
  /** The version of Prometheus that attaches metadata to this role. */
  readonly metadataSince?: string;
  /** What the API server filters, each by its role. */
  readonly selectors?: readonly Section[];
}

export function kubernetesDiscovery(generation: Generation, discovery: Discovery): Section {
  const { role, namespace, metadataSince = "2.35.0" } = discovery;
  const selectors = generation.isPerNode ? ofOwnNode(discovery.selectors) : (discovery.selectors ?? []);
  const names = namespacesOf(generation, namespace, discovery.namespaceSelector);
  // An Ingress is on no node.
  const metadata = role === "ingress" ? undefined : withTopology(generation, discovery.attachMetadata);
  return {
    kubernetes_sd_configs: [
      {
        role,
        ...(names.length === 0 ? {} : { namespaces: { names } }),
        ...apiServerAccess(generation, discovery.accessNamespace ?? namespace),
        ...(metadata === undefined
          ? {}
          : since(generation, metadataSince, "attach_metadata", { node: metadata.node ?? false })),
        ...(selectors.length === 0 ? {} : { selectors }),
      },
    ],
  };
}

/** One role may have one selector, so that of the node joins that of the monitor. */
function ofOwnNode(selectors: readonly Section[] = []): readonly Section[] {
  const ofPods = selectors.find(({ role }) => role === "pod") ?? { role: "pod" };
  return [...selectors.filter(({ role }) => role !== "pod"), { ...ofPods, field: "spec.nodeName=$(NODE_NAME)" }];
}

/** No name means all namespaces. */
function namespacesOf(
  { prometheus }: Generation,
  own: string,
  { any = false, matchNames = [] }: NamespaceSelector = {},
): readonly string[] {
  if (prometheus.spec.ignoreNamespaceSelectors === true) return [own];
  if (any) return [];
  return matchNames.length === 0 ? [own] : matchNames;
}

function apiServerAccess(generation: Generation, namespace: string): Section {
  const api = generation.prometheus.spec.apiserverConfig;
  if (api === undefined) return {};
  return {
    api_server: api.host,
    ...basicAuth(generation, namespace, api.basicAuth),
    ...field("bearer_token", given(api.bearerToken)),
    ...field("bearer_token_file", given(api.bearerTokenFile)),
    ...authorization(generation, namespace, api.authorization),
    ...tlsConfig(generation, namespace, api.tlsConfig),
    ...proxyConfig(generation, namespace, api),
  };
}

/** Shards by zone need the labels of nodes, unless pods carry the label themselves. */
function withTopology(generation: Generation, own: AttachMetadata | undefined): AttachMetadata | undefined {
  if (shardZones(generation).length === 0 || generation.options.podTopologyLabels === true) return own;
  return { node: true };
}

/** The selector of a monitor for the API server, once for each role; only when the monitor asks for it. */
export function serverSideSelectors(
  { selector, selectorMechanism }: { readonly selector: Selector; readonly selectorMechanism?: string | undefined },
  roles: readonly string[],
): readonly Section[] {
  if (selectorMechanism !== "RoleSelector") return [];
  const label = selectorText(selector);
  return roles.map((role) => ({ role, label }));
}

/** A selector in the form of a query. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const equals = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    const list = `(${values.toSorted().join(",")})`;
    switch (operator) {
      case "In":
        return { key, text: `${key} in ${list}` };
      case "NotIn":
        return { key, text: `${key} notin ${list}` };
      case "Exists":
        return { key, text: key };
      case "DoesNotExist":
        return { key, text: `!${key}` };
    }
  });
  const requirements = [...equals, ...others].toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return requirements.map(({ text }) => text).join(",");
}
