/** Where the targets of a ScrapeConfig come from, in the words of Prometheus. */
import type { DiscoveryField, DiscoveryFieldType } from "../kind/discovery-table.ts";
import type { KeySelector } from "../kind/references.ts";
import {
  type DiscoveredNamespaces,
  discoveriesOf,
  discoveryClientOf,
  losesClient,
  type DiscoveryConfig,
  type DiscoverySelectors,
  type Filters,
  type ScrapeConfig,
  type StatedDiscovery,
} from "../kind/scrape-config.ts";
import type { AttachMetadata } from "../kind/scrape-fields.ts";
import {
  field,
  filled,
  type Generation,
  given,
  has,
  report,
  type Section,
  since,
  sorted,
  type Value,
} from "./generation.ts";
import { authorization, basicAuth, oauth2, proxyConfig, secretValue, tlsConfig } from "./http-settings.ts";

/** Addresses and discoveries, each list under its own key. */
export function targetDiscovery(generation: Generation, object: ScrapeConfig): Section {
  const namespace = object.metadata.namespace ?? "";
  const addresses = (object.spec.staticConfigs ?? []).map(({ targets, labels = {} }) => ({ targets, labels }));
  const lists = Map.groupBy(discoveriesOf(object), ({ definition }) => definition.key);
  const sections = [...lists].map(
    ([key, stated]) => [key, stated.map((each) => discoverySection(generation, namespace, each))] as const,
  );
  return { ...field("static_configs", filled(addresses)), ...Object.fromEntries(sections) };
}

function discoverySection(generation: Generation, namespace: string, stated: StatedDiscovery): Section {
  const { definition, config, field: path } = stated;
  const parts = Object.entries(definition.fields).map(([name, of]) =>
    fieldSection({ generation, namespace, config, name, path: `${path}.${name}` }, of),
  );
  return Object.assign(clientSection(generation, namespace, stated), ...parts) as Section;
}

function clientSection(generation: Generation, namespace: string, stated: StatedDiscovery): Section {
  const client = discoveryClientOf(stated);
  const { clientSince = "0.0.0" } = stated.definition;
  if (losesClient(stated)) report(generation, stated.field, "its client is ignored, because it has an environment");
  const { tls_config: tls } = tlsConfig(generation, namespace, client.tlsConfig);
  return {
    ...basicAuth(generation, namespace, client.basicAuth),
    ...authorization(generation, namespace, client.authorization),
    ...oauth2(generation, namespace, client.oauth2),
    ...proxyConfig(generation, namespace, client),
    ...since(generation, clientSince, "follow_redirects", client.followRedirects),
    ...since(generation, clientSince, "enable_http2", client.enableHTTP2),
    ...since(generation, clientSince, "tls_config", tls),
  };
}

/** The field that is converted, and what its text may depend on. */
interface Place {
  readonly generation: Generation;
  readonly namespace: string;
  readonly config: DiscoveryConfig;
  readonly name: string;
  readonly path: string;
}

function fieldSection(
  place: Place,
  { type, key = snake(place.name), since: minimum = "0.0.0" }: DiscoveryField,
): Section {
  const value = place.config[place.name];
  if (value === undefined || value === null) return {};
  // The schema of the kind, which is made of the same table, has checked the types.
  return since(place.generation, minimum, key, converters[type](place, value as never));
}

function snake(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

type Converter<T> = (place: Place, value: T) => Value | undefined;

const asItIs = (_: Place, value: Value): Value => value;

const converters: { readonly [Type in DiscoveryFieldType]: Converter<never> } = {
  text: asItIs,
  url: asItIs,
  address: asItIs,
  duration: asItIs,
  flag: asItIs,
  port: asItIs,
  files: asItIs,
  given: (_: Place, value: string) => given(value),
  lower: (_: Place, value: string) => value.toLowerCase(),
  snake: (_: Place, value: string) => snake(value),
  texts: (_: Place, value: readonly string[]) => filled(value),
  map: (_: Place, value: Readonly<Record<string, string>>) =>
    Object.keys(value).length === 0 ? undefined : sorted(value),
  secret: ({ generation, namespace, path }: Place, value: KeySelector) =>
    secretValue(generation, namespace, value, path) ?? "",
  keyPair: keyOfPair,
  filters: (_: Place, value: Filters) =>
    filled(value.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))),
  dnsType,
  namespaces: (_: Place, { names = [], ownNamespace }: DiscoveredNamespaces) => ({
    names,
    ...field("own_namespace", ownNamespace),
  }),
  selectors: (_: Place, value: DiscoverySelectors) =>
    filled(
      value.map(({ role, label, field: byField }) => ({
        role: role.toLowerCase(),
        ...field("label", label),
        ...field("field", byField),
      })),
    ),
  attachMetadata,
};

function keyOfPair({ generation, namespace, config, path }: Place, value: KeySelector): string | undefined {
  if (config["accessKey"] === undefined || config["secretKey"] === undefined) return undefined;
  return secretValue(generation, namespace, value, path) ?? "";
}

/** The records that not every Prometheus asks for. */
const dnsTypesSince: Readonly<Record<string, string | undefined>> = { NS: "2.49.0", MX: "2.38.0" };

function dnsType({ generation, path }: Place, type: string): string | undefined {
  const minimum = dnsTypesSince[type] ?? "0.0.0";
  if (has(generation, minimum)) return type;
  report(generation, path, `"${type}" is ignored, because it needs Prometheus ${minimum} or newer`);
  return undefined;
}

/** The roles whose targets are on nodes, with the version that attaches their labels. */
const metadataSince: Readonly<Record<string, string | undefined>> = {
  pod: "2.35.0",
  endpoints: "2.37.0",
  endpointslice: "2.37.0",
};

function attachMetadata({ generation, config, path }: Place, { node }: AttachMetadata): Section | undefined {
  const role = String(config["role"]).toLowerCase();
  const minimum = metadataSince[role];
  if (minimum !== undefined && has(generation, minimum)) return field("node", node);
  const needs = minimum === undefined ? `the role "${role}" has no nodes` : `it needs Prometheus ${minimum} or newer`;
  report(generation, path, `ignored, because ${needs}`);
  return undefined;
}
