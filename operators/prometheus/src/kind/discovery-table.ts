/**
 * The service discoveries of a ScrapeConfig: how Prometheus calls them, and what their fields hold. The
 * schema of the kind, the configuration, the checks and the keys of Secrets follow from it.
 */

/**
 * `given` is a text that is written unless it is empty, `lower` one in small letters, `snake` one with its
 * words apart; a `keyPair` is two keys of Secrets that are written together or not at all.
 */
export type DiscoveryFieldType =
  | "text"
  | "given"
  | "lower"
  | "snake"
  | "url"
  | "address"
  | "duration"
  | "flag"
  | "port"
  | "texts"
  | "files"
  | "map"
  | "secret"
  | "keyPair"
  | "filters"
  | "dnsType"
  | "namespaces"
  | "selectors"
  | "attachMetadata";

export interface DiscoveryField {
  readonly type: DiscoveryFieldType;
  /** Default: its own name in small letters, with the words apart. */
  readonly key?: string;
  /** An object that uses it is refused for an older Prometheus. */
  readonly needs?: string;
  /** An older Prometheus gets the discovery without it. */
  readonly since?: string;
  readonly isRequired?: boolean;
  /** All that it may be. */
  readonly values?: readonly string[];
}

/** Parts of an HTTP client; `redirects` are followRedirects and enableHTTP2. */
export type ClientPart = "basicAuth" | "authorization" | "oauth2" | "proxy" | "tls" | "redirects";

export interface DiscoveryDefinition {
  readonly key: string;
  /** An object that uses it is refused for an older Prometheus. */
  readonly needs?: string;
  readonly client: readonly ClientPart[];
  /** The version of Prometheus that has TLS and redirects for it. */
  readonly clientSince?: string;
  /** Parts that the kind has, and upstream does not write. */
  readonly unwritten?: readonly ClientPart[];
  readonly fields: Readonly<Record<string, DiscoveryField>>;
}

const of = (type: DiscoveryFieldType, more: Omit<DiscoveryField, "type"> = {}): DiscoveryField => ({ type, ...more });
const required = (type: DiscoveryFieldType): DiscoveryField => ({ type, isRequired: true });
const role = (...values: readonly string[]): DiscoveryField => ({ type: "lower", values, isRequired: true });

const refreshInterval = of("duration");
const port = of("port");
const tagSeparator = of("text");
const withoutLogin = ["authorization", "oauth2", "proxy", "tls", "redirects"] as const;
const whole = ["basicAuth", ...withoutLogin] as const;
const amazonKeys = { region: of("text"), accessKey: of("keyPair"), secretKey: of("keyPair"), roleARN: of("text") };

/** By the names of the lists in a spec, in upstream's order. */
export const discoveryTable = {
  fileSDConfigs: { key: "file_sd_configs", client: [], fields: { files: required("files"), refreshInterval } },
  httpSDConfigs: {
    key: "http_sd_configs",
    needs: "2.28.0",
    client: whole,
    fields: { url: required("url"), refreshInterval },
  },
  kubernetesSDConfigs: {
    key: "kubernetes_sd_configs",
    client: whole,
    fields: {
      apiServer: of("text"),
      role: role("Pod", "Endpoints", "Ingress", "Service", "Node", "EndpointSlice"),
      namespaces: of("namespaces"),
      selectors: of("selectors", { since: "2.17.0" }),
      attachMetadata: of("attachMetadata"),
    },
  },
  consulSDConfigs: {
    key: "consul_sd_configs",
    client: whole,
    fields: {
      server: required("text"),
      pathPrefix: of("text", { needs: "2.45.0" }),
      tokenRef: of("secret", { key: "token" }),
      datacenter: of("text"),
      namespace: of("text", { needs: "2.28.0" }),
      partition: of("text"),
      scheme: of("lower", { values: ["http", "https", "HTTP", "HTTPS"] }),
      services: of("texts"),
      tags: of("texts"),
      tagSeparator,
      nodeMeta: of("map"),
      filter: of("text", { needs: "3.0.0" }),
      healthFilter: of("text", { needs: "3.11.2" }),
      allowStale: of("flag"),
      refreshInterval,
    },
  },
  dnsSDConfigs: {
    key: "dns_sd_configs",
    client: [],
    fields: {
      names: required("texts"),
      refreshInterval,
      type: of("dnsType", { values: ["A", "AAAA", "MX", "NS", "SRV"] }),
      port,
    },
  },
  ec2SDConfigs: {
    key: "ec2_sd_configs",
    client: ["proxy", "tls", "redirects"],
    clientSince: "2.41.0",
    fields: { ...amazonKeys, refreshInterval, port, filters: of("filters", { since: "2.3.0" }) },
  },
  azureSDConfigs: {
    key: "azure_sd_configs",
    client: whole,
    unwritten: ["tls", "redirects"],
    fields: {
      environment: of("text"),
      authenticationMethod: of("text", { values: ["OAuth", "ManagedIdentity", "SDK", "WorkloadIdentity"] }),
      subscriptionID: { type: "given", isRequired: true },
      tenantID: of("text"),
      clientID: of("text"),
      clientSecret: of("secret"),
      resourceGroup: of("text", { needs: "2.35.0" }),
      refreshInterval,
      port,
    },
  },
  gceSDConfigs: {
    key: "gce_sd_configs",
    client: [],
    fields: {
      project: required("text"),
      zone: required("text"),
      filter: of("text"),
      refreshInterval,
      port,
      tagSeparator,
    },
  },
  openstackSDConfigs: {
    key: "openstack_sd_configs",
    client: ["tls"],
    fields: {
      role: role("Instance", "Hypervisor", "LoadBalancer"),
      region: required("text"),
      identityEndpoint: of("url"),
      username: of("text"),
      userid: of("text"),
      password: of("secret"),
      domainName: of("text"),
      domainID: of("text"),
      projectName: of("text"),
      projectID: of("text"),
      applicationCredentialName: of("text"),
      applicationCredentialId: of("text"),
      applicationCredentialSecret: of("secret"),
      allTenants: of("flag"),
      refreshInterval,
      port,
      // Prometheus refuses the capitals that the kind may have; upstream writes them.
      availability: of("lower", { values: ["Public", "public", "Admin", "admin", "Internal", "internal"] }),
    },
  },
  digitalOceanSDConfigs: {
    key: "digitalocean_sd_configs",
    needs: "2.20.0",
    client: withoutLogin,
    fields: { port, refreshInterval },
  },
  kumaSDConfigs: {
    key: "kuma_sd_configs",
    client: whole,
    fields: {
      server: required("url"),
      refreshInterval,
      fetchTimeout: of("duration"),
      clientID: of("text", { needs: "2.50.0" }),
    },
  },
  eurekaSDConfigs: {
    key: "eureka_sd_configs",
    client: whole,
    fields: { refreshInterval, server: required("url") },
  },
  dockerSDConfigs: {
    key: "docker_sd_configs",
    client: whole,
    fields: {
      filters: of("filters"),
      host: required("address"),
      port,
      hostNetworkingHost: of("text"),
      matchFirstNetwork: of("flag", { needs: "2.54.1", since: "2.54.1" }),
      refreshInterval,
    },
  },
  linodeSDConfigs: {
    key: "linode_sd_configs",
    needs: "2.28.0",
    client: withoutLogin,
    fields: { port, region: of("text"), tagSeparator, refreshInterval },
  },
  hetznerSDConfigs: {
    key: "hetzner_sd_configs",
    client: whole,
    fields: {
      role: role("hcloud", "Hcloud", "robot", "Robot"),
      port,
      refreshInterval,
      labelSelector: of("given", { needs: "3.5.0", since: "3.5.0" }),
    },
  },
  nomadSDConfigs: {
    key: "nomad_sd_configs",
    client: whole,
    fields: {
      server: required("url"),
      allowStale: of("flag"),
      namespace: of("text"),
      refreshInterval,
      region: of("text"),
      tagSeparator,
    },
  },
  dockerSwarmSDConfigs: {
    key: "dockerswarm_sd_configs",
    needs: "2.20.0",
    client: whole,
    fields: {
      filters: of("filters"),
      host: required("address"),
      role: role("Services", "Tasks", "Nodes"),
      port,
      refreshInterval,
    },
  },
  puppetDBSDConfigs: {
    key: "puppetdb_sd_configs",
    needs: "2.31.0",
    client: whole,
    fields: {
      url: required("url"),
      query: required("text"),
      includeParameters: of("flag"),
      port,
      refreshInterval,
    },
  },
  lightSailSDConfigs: {
    key: "lightsail_sd_configs",
    needs: "2.27.0",
    client: whole,
    fields: { ...amazonKeys, endpoint: of("text"), port, refreshInterval },
  },
  ovhcloudSDConfigs: {
    key: "ovhcloud_sd_configs",
    needs: "2.40.0",
    client: [],
    fields: {
      applicationKey: required("text"),
      applicationSecret: required("secret"),
      consumerKey: required("secret"),
      service: { type: "snake", values: ["VPS", "DedicatedServer"], isRequired: true },
      endpoint: of("text"),
      refreshInterval,
    },
  },
  scalewaySDConfigs: {
    key: "scaleway_sd_configs",
    needs: "2.26.0",
    client: ["proxy", "tls", "redirects"],
    fields: {
      accessKey: required("text"),
      secretKey: required("secret"),
      projectID: required("text"),
      role: role("Instance", "Baremetal"),
      port,
      apiURL: of("url"),
      zone: of("text"),
      nameFilter: of("text"),
      tagsFilter: of("texts"),
      refreshInterval,
    },
  },
  ionosSDConfigs: {
    key: "ionos_sd_configs",
    needs: "2.36.0",
    client: withoutLogin,
    fields: { datacenterID: required("text"), port, refreshInterval },
  },
} as const satisfies Readonly<Record<string, DiscoveryDefinition>>;

export type DiscoveryListName = keyof typeof discoveryTable;

/** With the name of the list. */
export const discoveries: readonly (readonly [DiscoveryListName, DiscoveryDefinition])[] = Object.entries(
  discoveryTable,
).map(([name, definition]) => [name as DiscoveryListName, definition]);
