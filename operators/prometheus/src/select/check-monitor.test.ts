import { expect, test } from "vitest";
import { Assets } from "../generate/assets.ts";
import { parseVersion } from "../generate/version.ts";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { PodMonitor, type PodEndpoint } from "../kind/pod-monitor.ts";
import { type ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import { checkPodMonitor, checkServiceMonitor } from "./check-monitor.ts";
import type { CheckedBy } from "./check-scrape.ts";
import { type Refusal, refusalText } from "./refusal.ts";
import { keysOfClients, podMonitorClients } from "./scrape-clients.ts";

const secret = { name: "login", key: "user" };

function by(spec: Partial<PrometheusSpec>, version = "2.53.3"): CheckedBy {
  const parsed = parseVersion(version);
  if (parsed === undefined) throw new Error(`no version: ${version}`);
  const assets = new Assets(new Map([["Secret/shop/login/user", "admin"]]));
  return { spec: Prometheus({ name: "main", spec }).spec, version: parsed, assets };
}

function monitor(endpoint: Partial<ServiceEndpoint>, rest: Partial<ServiceMonitor["spec"]> = {}): ServiceMonitor {
  return ServiceMonitor({ name: "app", namespace: "shop", spec: { selector: {}, endpoints: [endpoint], ...rest } });
}

function textOf(refusal: Refusal | undefined): string | undefined {
  return refusal && refusalText(refusal).replace("spec.endpoints[0].", "");
}

test.each<readonly [string, Partial<ServiceEndpoint>, string]>([
  ["a port", { port: "web" }, "2.53.3"],
  ["a login", { basicAuth: { username: secret, password: secret } }, "2.53.3"],
  ["a timeout as long as the interval", { interval: "1m", scrapeTimeout: "60s" }, "2.53.3"],
  [
    "lower case since 2.36",
    { relabelings: [{ action: "Lowercase", targetLabel: "a", sourceLabels: ["a"] }] },
    "2.36.0",
  ],
  ["any label since 3.0", { relabelings: [{ action: "replace", targetLabel: "a.b" }] }, "3.0.0"],
])("%s is valid", (_, endpoint, version) => {
  expect(checkServiceMonitor(by({}, version), monitor(endpoint))).toBeUndefined();
});

test.each<readonly [Partial<ServiceEndpoint>, Partial<PrometheusSpec>, string]>([
  [
    { basicAuth: { username: secret, password: { name: "login", key: "password" } } },
    {},
    'basicAuth.password: key "password" of Secret "shop/login" does not exist; create it',
  ],
  [
    { basicAuth: {}, authorization: { credentials: secret } },
    {},
    "basicAuth: it cannot be combined with authorization; use one of them",
  ],
  [{ authorization: { type: "Basic" } }, {}, 'authorization.type: "basic" is not possible; use basicAuth'],
  [{ authorization: {} }, {}, "authorization.credentials: expected a key of a Secret"],
  [{ tlsConfig: { certFile: "/a" } }, {}, "tlsConfig.keySecret: the certificate of the client has no key"],
  [
    { tlsConfig: { caFile: "/a" } },
    { arbitraryFSAccessThroughSMs: { deny: true } },
    "tlsConfig.caFile: it names a file of the Prometheus pod, which spec.arbitraryFSAccessThroughSMs forbids",
  ],
  [{ noProxy: "a" }, {}, "noProxy: it needs proxyUrl"],
  [{ scrapeTimeout: "31s" }, {}, 'scrapeTimeout: expected at most the interval "30s", got "31s"'],
  [{ scrapeTimeout: "soon" }, {}, 'scrapeTimeout: expected a duration such as 10s, got "soon"'],
  [
    { relabelings: [{ action: "invent" }] },
    {},
    'relabelings[0].action: expected one of replace, keep, drop, hashmod, labelmap, labeldrop, labelkeep, lowercase, uppercase, keepequal, dropequal, got "invent"',
  ],
  [
    { relabelings: [{ action: "replace" }] },
    {},
    'relabelings[0].targetLabel: expected the name of a label, because the action is "replace"',
  ],
  [
    { relabelings: [{ action: "replace", targetLabel: "a.b" }] },
    {},
    'relabelings[0].targetLabel: expected the name of a label, got "a.b"',
  ],
  [
    { metricRelabelings: [{ action: "labeldrop", regex: "a", targetLabel: "b" }] },
    {},
    'metricRelabelings[0].targetLabel: the action "labeldrop" does not use it; remove it',
  ],
  [
    { metricRelabelings: [{ action: "hashmod", targetLabel: "b" }] },
    {},
    'metricRelabelings[0].modulus: expected a number from 1, because the action is "hashmod"',
  ],
])("%j is refused", (endpoint, spec, text) => {
  expect(textOf(checkServiceMonitor(by(spec), monitor(endpoint)))).toBe(text);
});

test("a regular expression that RE2 refuses is refused", () => {
  const refusal = checkServiceMonitor(by({}), monitor({ relabelings: [{ action: "drop", regex: "a(?=b)" }] }));
  expect(textOf(refusal)).toMatch(/^relabelings\[0\]\.regex: expected a regular expression \(RE2\), got "a\(\?=b\)": /);
});

test("a scrape class that the Prometheus lacks is refused", () => {
  expect(textOf(checkServiceMonitor(by({}), monitor({}, { scrapeClass: "tls" })))).toBe(
    'spec.scrapeClass: the Prometheus has no scrape class "tls"',
  );
  const spec = { scrapeClasses: [{ name: "tls" }] };
  expect(checkServiceMonitor(by(spec), monitor({}, { scrapeClass: "tls" }))).toBeUndefined();
});

test("an endpoint of a PodMonitor is named by its own field", () => {
  const endpoint: Partial<PodEndpoint> = { bearerTokenSecret: { name: "none", key: "token" } };
  const pods = PodMonitor({ name: "app", namespace: "shop", spec: { selector: {}, podMetricsEndpoints: [endpoint] } });
  expect(textOf(checkPodMonitor(by({}), pods))).toBe(
    'spec.podMetricsEndpoints[0].bearerTokenSecret: key "token" of Secret "shop/none" does not exist; create it',
  );
  const keys = keysOfClients("shop", podMonitorClients(pods)).map(({ asset }) => asset);
  expect(keys).toEqual([{ kind: "Secret", namespace: "shop", name: "none", key: "token" }]);
});
