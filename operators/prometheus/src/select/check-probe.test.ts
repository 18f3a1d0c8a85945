import { expect, test } from "vitest";
import { Assets } from "../generate/assets.ts";
import { parseVersion } from "../generate/version.ts";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { checkProbe } from "./check-probe.ts";
import { refusalText } from "./refusal.ts";

type Draft = Partial<Parameters<typeof Probe>[0]["spec"]>;

const prober = { url: "prober:9115" };
const targets = { staticConfig: { static: ["example.com"] } };
const secret = { name: "login", key: "user" };

function refusalOf(spec: Draft, version = "2.53.3"): string | undefined {
  const parsed = parseVersion(version);
  if (parsed === undefined) throw new Error(`no version: ${version}`);
  const assets = new Assets(new Map([["Secret/shop/login/user", "admin"]]));
  const by = { spec: Prometheus({ name: "main", spec: {} }).spec, version: parsed, assets };
  const refusal = checkProbe(by, Probe({ name: "web", namespace: "shop", spec: { prober, targets, ...spec } }));
  return refusal && refusalText(refusal);
}

test.each<readonly [string, Draft]>([
  ["addresses", {}],
  ["Ingresses", { targets: { ingress: { selector: { matchLabels: { app: "web" } } } } }],
  ["a prober without a port", { prober: { url: "prober.monitoring.svc" } }],
  ["a prober by its IPv4 address", { prober: { url: "10.0.0.1:9115" } }],
  ["a prober by its IPv6 address", { prober: { url: "[fd00::1]:9115" } }],
  ["a bare IPv6 address", { prober: { url: "fd00::1" } }],
  ["a login", { basicAuth: { username: secret, password: secret } }],
])("%s are valid", (_, spec) => {
  expect(refusalOf(spec)).toBeUndefined();
});

test.each<readonly [Draft, string]>([
  [{ targets: {} }, "spec.targets: expected staticConfig or ingress"],
  [
    { prober: { url: "http://prober:9115" } },
    'spec.prober.url: expected a host or HOST:PORT, got "http://prober:9115"',
  ],
  [{ prober: { url: "prober:0" } }, 'spec.prober.url: expected a host or HOST:PORT, got "prober:0"'],
  [{ prober: { url: "prober:65536" } }, 'spec.prober.url: expected a host or HOST:PORT, got "prober:65536"'],
  [{ prober: { url: "" } }, 'spec.prober.url: expected a host or HOST:PORT, got ""'],
  [{ prober: { url: "prober", noProxy: "a" } }, "spec.prober.noProxy: it needs proxyUrl"],
  [
    { prober: { url: "prober", proxyUrl: "http://p", proxyConnectHeader: { a: [{ name: "none", key: "k" }] } } },
    'spec.prober.proxyConnectHeader.a: key "k" of Secret "shop/none" does not exist; create it',
  ],
  [
    { targets: { staticConfig: { labels: { "a.b": "c" } } } },
    'spec.targets.staticConfig.labels: expected the name of a label, got "a.b"',
  ],
  [
    { targets: { staticConfig: { relabelingConfigs: [{ action: "replace" }] } } },
    'spec.targets.staticConfig.relabelingConfigs[0].targetLabel: expected the name of a label, because the action is "replace"',
  ],
  [
    { targets: { ingress: { relabelingConfigs: [{ action: "invent" }] } } },
    'spec.targets.ingress.relabelingConfigs[0].action: expected one of replace, keep, drop, hashmod, labelmap, labeldrop, labelkeep, lowercase, uppercase, keepequal, dropequal, got "invent"',
  ],
  [{ metricRelabelings: [{ action: "keep", regex: "(" }] }, "spec.metricRelabelings[0].regex: expected a regular"],
  [
    { bearerTokenSecret: { name: "none", key: "token" } },
    'spec.bearerTokenSecret: key "token" of Secret "shop/none" does not exist; create it',
  ],
  [{ interval: "10s", scrapeTimeout: "11s" }, 'spec.scrapeTimeout: expected at most the interval "10s", got "11s"'],
  [{ scrapeClass: "none" }, 'spec.scrapeClass: the Prometheus has no scrape class "none"'],
])("%j is refused", (spec, text) => {
  expect(refusalOf(spec)).toContain(text);
});

test("Prometheus 3 takes labels of any name", () => {
  expect(refusalOf({ targets: { staticConfig: { labels: { "a.b": "c" } } } }, "3.0.0")).toBeUndefined();
});
