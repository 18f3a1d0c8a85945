/** Discoveries that contradict themselves, or that the Prometheus does not know. */
import { parseFieldSelector, parseLabelSelector } from "setpoint/kinds";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { DiscoveryListName } from "../kind/discovery-table.ts";
import {
  type DiscoveryClient,
  discoveryClientOf,
  type DiscoveryConfig,
  type DiscoverySelectors,
  type StatedDiscovery,
} from "../kind/scrape-config.ts";
import { firstRefusal, refuse, type Refusal, within } from "./refusal.ts";

export function checkDiscovery(version: Version, stated: StatedDiscovery): Refusal | undefined {
  const { name, definition, field, config } = stated;
  const given = Object.entries(definition.fields).filter(([each]) => config[each] !== undefined);
  return firstRefusal([
    checkVersion(version, `spec.${name}`, definition.needs),
    ...given.map(([each, { needs }]) => checkVersion(version, `${field}.${each}`, needs)),
    ...given.map(([each, { type }]) =>
      type === "url" ? checkUrl(`${field}.${each}`, String(config[each])) : undefined,
    ),
    within(field, rules[name]?.(version, config, discoveryClientOf(stated))),
  ]);
}

/** The schema of the kind has checked the rest. */
function checkUrl(field: string, url: string): Refusal | undefined {
  return /^https?:\/\/[^/?#]/.test(url) ? undefined : refuse(field, `expected a URL with a host, got "${url}"`);
}

function checkVersion(version: Version, field: string, needs: string | undefined): Refusal | undefined {
  if (needs === undefined || isAtLeast(version, needs)) return undefined;
  return refuse(field, `it needs Prometheus ${needs} or newer`);
}

type Rule = (version: Version, config: DiscoveryConfig, client: DiscoveryClient) => Refusal | undefined;

/** What some discoveries require beside their fields. */
const rules: { readonly [Name in DiscoveryListName]?: Rule } = {
  kubernetesSDConfigs: checkKubernetes,
  azureSDConfigs: checkAzure,
  dnsSDConfigs: (_, { type, port }) =>
    type !== undefined && type !== "SRV" && port === undefined
      ? refuse("port", `expected a port, because only the records of the type "SRV" have one`)
      : undefined,
  scalewaySDConfigs: checkScaleway,
  openstackSDConfigs: (version, { role }) =>
    role === "LoadBalancer" ? checkVersion(version, "role", "3.2.0") : undefined,
};

function checkKubernetes(version: Version, config: DiscoveryConfig, client: DiscoveryClient): Refusal | undefined {
  const { role, apiServer, namespaces, selectors } = config;
  const own = (namespaces as { readonly ownNamespace?: boolean } | undefined)?.ownNamespace;
  return firstRefusal([
    role === "EndpointSlice" ? checkVersion(version, "role", "2.21.0") : undefined,
    apiServer !== undefined && own === true
      ? refuse("namespaces.ownNamespace", "it cannot be combined with apiServer; name the namespaces")
      : undefined,
    apiServer === undefined ? checkDefaultClient(client) : undefined,
    // The schema of the kind has checked the types.
    checkSelectors(String(role).toLowerCase(), (selectors ?? []) as DiscoverySelectors),
  ]);
}

/** Prometheus reaches its own API server by its ServiceAccount alone. */
function checkDefaultClient({ followRedirects, enableHTTP2, ...client }: DiscoveryClient): Refusal | undefined {
  const switchedOff = { followRedirects, enableHTTP2 };
  const names = [
    ...Object.entries(client).filter(([, value]) => value !== undefined && value !== false),
    ...Object.entries(switchedOff).filter(([, value]) => value === false),
  ].map(([name]) => name);
  return names[0] === undefined ? undefined : refuse(names[0], "it needs apiServer");
}

/** The roles whose objects the API server may filter, for each role that is discovered. */
const selectableRoles: Readonly<Record<string, readonly string[]>> = {
  endpoints: ["pod", "service", "endpoints"],
  endpointslice: ["pod", "service", "endpointslice"],
};

function checkSelectors(role: string, selectors: DiscoverySelectors): Refusal | undefined {
  const allowed = selectableRoles[role] ?? [role];
  return firstRefusal(
    selectors.flatMap((selector, index) => [
      selectors.findIndex(({ role: other }) => other === selector.role) === index
        ? undefined
        : refuse(`selectors[${index}].role`, `there is another selector of the role "${selector.role}"; combine them`),
      allowed.includes(selector.role.toLowerCase())
        ? undefined
        : refuse(`selectors[${index}].role`, `expected one of ${allowed.join(", ")}, got "${selector.role}"`),
      parsable(`selectors[${index}].label`, selector.label, parseLabelSelector),
      parsable(`selectors[${index}].field`, selector.field, parseFieldSelector),
    ]),
  );
}

function parsable(field: string, text: string | undefined, parse: (text: string) => unknown): Refusal | undefined {
  if (text === undefined) return undefined;
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return refuse(
      field,
      `expected a selector, got "${text}": ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const scalewayKey = /^SCW[A-Z0-9]{17}$/;
const scalewayProject = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function checkScaleway(_: Version, { accessKey, projectID }: DiscoveryConfig): Refusal | undefined {
  if (!scalewayKey.test(String(accessKey)))
    return refuse("accessKey", `expected SCW and 17 capitals or digits, got "${String(accessKey)}"`);
  return scalewayProject.test(String(projectID))
    ? undefined
    : refuse("projectID", `expected a UUID, got "${String(projectID)}"`);
}

/** Since when Prometheus has the methods that are not the oldest. */
const azureMethods: Readonly<Record<string, string | undefined>> = { SDK: "2.52.0", WorkloadIdentity: "3.11.0" };

/** Absent, the method is OAuth. */
function checkAzure(version: Version, config: DiscoveryConfig): Refusal | undefined {
  const method = config["authenticationMethod"] ?? "OAuth";
  if (method !== "OAuth") return checkVersion(version, "authenticationMethod", azureMethods[String(method)]);
  const missing = ["tenantID", "clientID", "clientSecret"].find((name) => (config[name] ?? "") === "");
  return missing === undefined
    ? undefined
    : refuse(missing, 'it is required, because the authenticationMethod is "OAuth"');
}
