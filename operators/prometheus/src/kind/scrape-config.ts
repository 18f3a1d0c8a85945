/** The kind ScrapeConfig: a scrape job whose targets are found outside of Kubernetes too. */
import { defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";
import {
  type ClientPart,
  discoveries,
  type DiscoveryDefinition,
  type DiscoveryField,
  type DiscoveryFieldType,
  type DiscoveryListName,
} from "./discovery-table.ts";
import { basicAuth, oauth2, proxyFields, safeAuthorization, safeTls } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { duration, flag, open, type Read, text, textMap, texts } from "./open-object.ts";
import { keySelector } from "./references.ts";
import { attachMetadata, configurationStatus, relabeling, sampleFields } from "./scrape-fields.ts";

const filters = z.array(open({ name: z.string(), values: z.array(z.string()).min(1) }));
const namespaces = open({ ownNamespace: flag, names: texts });
const selectors = z.array(open({ role: z.string(), label: text, field: text }));

const someText = z.string().min(1);
const portMax = 65_535;

const fieldSchemas: Readonly<Record<DiscoveryFieldType, z.ZodType>> = {
  text: someText,
  given: z.string(),
  lower: someText,
  snake: someText,
  url: z.string().regex(/^https?:\/\/.+$/),
  address: z.string().regex(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/.+$/),
  duration: duration.unwrap(),
  dnsType: someText,
  flag: z.boolean(),
  port: z.int().min(0).max(portMax),
  texts: z.array(z.string()),
  files: z.array(z.string().regex(/^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$/)).min(1),
  map: z.record(z.string(), z.string()),
  secret: keySelector,
  keyPair: keySelector,
  ...{ filters, namespaces, selectors, attachMetadata },
};

const clientShapes = {
  basicAuth: { basicAuth: basicAuth.optional() },
  authorization: { authorization: safeAuthorization.optional() },
  oauth2: { oauth2: oauth2.optional() },
  proxy: proxyFields,
  tls: { tlsConfig: safeTls.optional() },
  redirects: { followRedirects: flag, enableHTTP2: flag },
} as const satisfies Readonly<Record<ClientPart, z.ZodRawShape>>;

function fieldSchema({ type, values, isRequired = false }: DiscoveryField): z.ZodType {
  const schema = values === undefined ? fieldSchemas[type] : z.enum(values);
  return isRequired ? schema : schema.optional();
}

function discoverySchema({ client, fields }: DiscoveryDefinition): z.ZodType {
  const own = Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)] as const);
  return open({ ...Object.fromEntries(own), ...Object.assign({}, ...client.map((part) => clientShapes[part])) });
}

const discoveryLists = Object.fromEntries(
  discoveries.map(([name, definition]) => [name, z.array(discoverySchema(definition)).optional()]),
) as Readonly<Record<DiscoveryListName, z.ZodOptional<z.ZodArray<z.ZodType>>>>;

export const scrapeConfigSpec = open({
  jobName: text.describe("The label job of the samples."),
  staticConfigs: z
    .array(open({ targets: z.array(z.string()), labels: textMap }))
    .optional()
    .describe("Addresses to scrape."),
  ...discoveryLists,
  relabelings: z.array(relabeling).optional(),
  metricRelabelings: z.array(relabeling).optional(),
  metricsPath: text,
  scrapeInterval: duration,
  scrapeTimeout: duration,
  honorTimestamps: flag,
  trackTimestampsStaleness: flag,
  honorLabels: flag,
  params: z.record(z.string(), z.array(z.string())).optional(),
  scheme: text,
  enableCompression: flag,
  enableHTTP2: flag,
  basicAuth: basicAuth.optional(),
  authorization: safeAuthorization.optional(),
  oauth2: oauth2.optional(),
  tlsConfig: safeTls.optional(),
  ...proxyFields,
  bodySizeLimit: text,
  ...sampleFields,
  nameValidationScheme: text,
  nameEscapingScheme: text,
});

/** The kind ScrapeConfig, `monitoring.coreos.com/v1alpha1`. */
export const ScrapeConfig = defineKind({
  group: monitoringGroup,
  version: "v1alpha1",
  kind: "ScrapeConfig",
  shortNames: ["scfg"],
  categories,
  spec: scrapeConfigSpec,
  status: configurationStatus,
});
export type ScrapeConfig = ObjectOf<typeof ScrapeConfig>;

export type Filters = Read<typeof filters>;
export type DiscoveredNamespaces = Read<typeof namespaces>;
export type DiscoverySelectors = Read<typeof selectors>;
/** One item of a list of discoveries; the table says what it holds. */
export type DiscoveryConfig = Readonly<Record<string, unknown>>;
const discoveryClient = open(Object.assign({}, ...Object.values(clientShapes)) as AllClientFields);
type AllClientFields = (typeof clientShapes)["basicAuth"] &
  (typeof clientShapes)["authorization"] &
  (typeof clientShapes)["oauth2"] &
  (typeof clientShapes)["proxy"] &
  (typeof clientShapes)["tls"] &
  (typeof clientShapes)["redirects"];
export type DiscoveryClient = Read<typeof discoveryClient>;

/** Each discovery of an object with its definition, and where it is. */
export interface StatedDiscovery {
  readonly name: DiscoveryListName;
  readonly definition: DiscoveryDefinition;
  readonly field: string;
  readonly config: DiscoveryConfig;
}

export function discoveriesOf({ spec }: ScrapeConfig): readonly StatedDiscovery[] {
  return discoveries.flatMap(([name, definition]) =>
    // The schema, which is made of the same table, has checked the items.
    ((spec[name] ?? []) as readonly DiscoveryConfig[]).map((config, index) => ({
      ...{ name, definition, config },
      field: `spec.${name}[${index}]`,
    })),
  );
}

/** How the discovery reaches its server: the parts that are written. */
export function discoveryClientOf(stated: StatedDiscovery): DiscoveryClient {
  const { name, definition, config } = stated;
  const { client, unwritten = [] } = definition;
  const parts = client.filter((part) => !unwritten.includes(part) && !isReplaced(name, part, config));
  const names = losesClient(stated) ? [] : parts.flatMap((part) => Object.keys(clientShapes[part]));
  return Object.fromEntries(names.map((each) => [each, config[each]]));
}

/** Upstream writes the environment of an Azure in the place of its client. */
export function losesClient({ name, config }: StatedDiscovery): boolean {
  if (name !== "azureSDConfigs" || config["environment"] === undefined) return false;
  return clientNames.some((each) => config[each] !== undefined);
}

const clientNames = Object.values(clientShapes).flatMap((shape) => Object.keys(shape));

/** The field is required of an IONOS, so it may be there beside what replaces it. */
function isReplaced(name: DiscoveryListName, part: ClientPart, config: DiscoveryConfig): boolean {
  return name === "ionosSDConfigs" && part === "authorization" && config["oauth2"] !== undefined;
}
