import { expect, test } from "vitest";
import { Assets } from "../generate/assets.ts";
import { parseVersion } from "../generate/version.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { checkScrapeConfig } from "./check-scrape-config.ts";
import { refusalText } from "./refusal.ts";
import { keysOfClients, scrapeConfigClients } from "./scrape-clients.ts";

type Draft = Partial<Parameters<typeof ScrapeConfig>[0]["spec"]>;

const secret = { name: "login", key: "user" };
const missing = { name: "none", key: "token" };
const absent = 'key "token" of Secret "shop/none" does not exist; create it';

function refusalOf(spec: Draft, version = "2.53.3"): string | undefined {
  const parsed = parseVersion(version);
  if (parsed === undefined) throw new Error(`no version: ${version}`);
  const assets = new Assets(new Map([["Secret/shop/login/user", "admin"]]));
  const by = { spec: Prometheus({ name: "main", spec: {} }).spec, version: parsed, assets };
  const refusal = checkScrapeConfig(by, ScrapeConfig({ name: "vms", namespace: "shop", spec }));
  return refusal && refusalText(refusal);
}

test.each<readonly [string, Draft, string]>([
  ["nothing", {}, "2.53.3"],
  ["addresses", { staticConfigs: [{ targets: ["a:80"], labels: { env: "prod" } }] }, "2.20.0"],
  ["a server of targets", { httpSDConfigs: [{ url: "http://a/", basicAuth: { username: secret } }] }, "2.28.0"],
  ["SRV records without a port", { dnsSDConfigs: [{ names: ["a"], type: "SRV" }] }, "2.53.3"],
  [
    "pods by their labels and fields",
    {
      kubernetesSDConfigs: [
        { role: "Endpoints", selectors: [{ role: "Pod", label: "a in (b)", field: "spec.nodeName=c" }] },
      ],
    },
    "2.53.3",
  ],
  [
    "pods of another cluster",
    { kubernetesSDConfigs: [{ role: "Pod", apiServer: "https://other", enableHTTP2: false, followRedirects: true }] },
    "2.53.3",
  ],
  [
    "an IONOS whose oauth2 replaces what is required",
    {
      ionosSDConfigs: [
        {
          datacenterID: "d",
          authorization: { credentials: secret },
          oauth2: { clientId: { secret }, clientSecret: secret, tokenUrl: "http://a/" },
        },
      ],
    },
    "2.53.3",
  ],
  [
    "an Azure by its identity",
    { azureSDConfigs: [{ subscriptionID: "s", authenticationMethod: "ManagedIdentity" }] },
    "2.53.3",
  ],
])("%s: valid", (_, spec, version) => {
  expect(refusalOf(spec, version)).toBeUndefined();
});

test.each<readonly [Draft, string, string]>([
  [
    { scrapeInterval: "10s", scrapeTimeout: "11s" },
    "2.53.3",
    'spec.scrapeTimeout: expected at most the interval "10s"',
  ],
  [{ scrapeClass: "none" }, "2.53.3", "spec.scrapeClass: the Prometheus has no scrape class"],
  [{ staticConfigs: [{ targets: ["a"], labels: { "b.c": "d" } }] }, "2.53.3", "spec.staticConfigs[0].labels: expected"],
  [{ relabelings: [{ action: "invent" }] }, "2.53.3", "spec.relabelings[0].action: expected one of"],
  [{ metricRelabelings: [{ action: "keep", regex: "(" }] }, "2.53.3", "spec.metricRelabelings[0].regex: expected"],
  [{ basicAuth: { password: missing } }, "2.53.3", `spec.basicAuth.password: ${absent}`],
  [{ noProxy: "a" }, "2.53.3", "spec.noProxy: it needs proxyUrl"],
  [{ httpSDConfigs: [{ url: "http://a/" }] }, "2.27.0", "spec.httpSDConfigs: it needs Prometheus 2.28.0 or newer"],
  [
    { httpSDConfigs: [{ url: "http://a/" }, { url: "http://a/", authorization: { credentials: missing } }] },
    "2.53.3",
    `spec.httpSDConfigs[1].authorization.credentials: ${absent}`,
  ],
  [
    { consulSDConfigs: [{ server: "a", filter: "b" }] },
    "2.53.3",
    "spec.consulSDConfigs[0].filter: it needs Prometheus 3.0.0 or newer",
  ],
  [{ consulSDConfigs: [{ server: "a", tokenRef: missing }] }, "2.53.3", `spec.consulSDConfigs[0].tokenRef: ${absent}`],
  [
    { ec2SDConfigs: [{ accessKey: secret, secretKey: missing }] },
    "2.53.3",
    `spec.ec2SDConfigs[0].secretKey: ${absent}`,
  ],
  [{ dnsSDConfigs: [{ names: ["a"], type: "A" }] }, "2.53.3", "spec.dnsSDConfigs[0].port: expected a port"],
  [
    { kubernetesSDConfigs: [{ role: "EndpointSlice" }] },
    "2.20.0",
    "spec.kubernetesSDConfigs[0].role: it needs Prometheus 2.21.0 or newer",
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", apiServer: "http://a", namespaces: { ownNamespace: true } }] },
    "2.53.3",
    "spec.kubernetesSDConfigs[0].namespaces.ownNamespace: it cannot be combined with apiServer",
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", selectors: [{ role: "Node" }] }] },
    "2.53.3",
    'spec.kubernetesSDConfigs[0].selectors[0].role: expected one of pod, got "Node"',
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", selectors: [{ role: "Pod", label: "a in" }] }] },
    "2.53.3",
    'spec.kubernetesSDConfigs[0].selectors[0].label: expected a selector, got "a in": ',
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", selectors: [{ role: "Pod", field: "a" }] }] },
    "2.53.3",
    'spec.kubernetesSDConfigs[0].selectors[0].field: expected a selector, got "a": ',
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", selectors: [{ role: "Pod" }, { role: "Pod" }] }] },
    "2.53.3",
    'spec.kubernetesSDConfigs[0].selectors[1].role: there is another selector of the role "Pod"; combine them',
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", followRedirects: false }] },
    "2.53.3",
    "spec.kubernetesSDConfigs[0].followRedirects: it needs apiServer",
  ],
  [
    { kubernetesSDConfigs: [{ role: "Pod", basicAuth: { username: secret } }] },
    "2.53.3",
    "spec.kubernetesSDConfigs[0].basicAuth: it needs apiServer",
  ],
  [
    { eurekaSDConfigs: [{ server: "http:///eureka" }] },
    "2.53.3",
    'spec.eurekaSDConfigs[0].server: expected a URL with a host, got "http:///eureka"',
  ],
  [
    { scalewaySDConfigs: [{ accessKey: "key", secretKey: secret, projectID: "p", role: "Instance" }] },
    "2.53.3",
    'spec.scalewaySDConfigs[0].accessKey: expected SCW and 17 capitals or digits, got "key"',
  ],
  [
    { azureSDConfigs: [{ subscriptionID: "s", tenantID: "t" }] },
    "2.53.3",
    'spec.azureSDConfigs[0].clientID: it is required, because the authenticationMethod is "OAuth"',
  ],
  [
    { azureSDConfigs: [{ subscriptionID: "s", authenticationMethod: "SDK" }] },
    "2.51.0",
    "spec.azureSDConfigs[0].authenticationMethod: it needs Prometheus 2.52.0 or newer",
  ],
  [
    { openstackSDConfigs: [{ role: "LoadBalancer", region: "r" }] },
    "2.53.3",
    "spec.openstackSDConfigs[0].role: it needs Prometheus 3.2.0 or newer",
  ],
])("%j with Prometheus %s is refused", (spec, version, text) => {
  expect(refusalOf(spec, version)).toContain(text);
});

test("the server refuses what upstream's refuses", () => {
  const draft = (config: object): unknown => ({
    apiVersion: ScrapeConfig.apiVersion,
    kind: "ScrapeConfig",
    metadata: { name: "a" },
    spec: config,
  });
  const refuses = (config: object, text: RegExp): void => expect(() => ScrapeConfig.parse(draft(config))).toThrow(text);
  refuses({ kubernetesSDConfigs: [{ role: "Cluster" }] }, /role/);
  refuses({ httpSDConfigs: [{ url: "ftp://a" }] }, /url/);
  refuses({ fileSDConfigs: [{ files: ["a.txt"] }] }, /files/);
  refuses({ consulSDConfigs: [{}] }, /server/);
  refuses({ dnsSDConfigs: [{ names: ["a"], refreshInterval: "soon" }] }, /refreshInterval/);
});

test("the keys of all discoveries are named by their fields", () => {
  const spec: Draft = {
    tlsConfig: { keySecret: secret },
    ovhcloudSDConfigs: [{ applicationKey: "a", applicationSecret: secret, consumerKey: missing, service: "VPS" }],
    azureSDConfigs: [{ subscriptionID: "s", environment: "e", basicAuth: { username: secret } }],
  };
  const object = ScrapeConfig({ name: "vms", namespace: "shop", spec });
  expect(keysOfClients("shop", scrapeConfigClients(object)).map(({ field }) => field)).toEqual([
    "spec.tlsConfig.keySecret",
    "spec.ovhcloudSDConfigs[0].applicationSecret",
    "spec.ovhcloudSDConfigs[0].consumerKey",
  ]);
});
