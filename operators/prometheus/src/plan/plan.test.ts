import { gunzipSync } from "node:zlib";
import type { Stored } from "setpoint";
import type { ConfigMap, Secret } from "setpoint/kinds";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { Assets } from "../generate/assets.ts";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import type { Seen } from "../seen/seen.ts";
import { conditionsOf, isLoaded } from "./conditions.ts";
import type { Plan } from "./outcome.ts";
import { plan } from "./plan.ts";
import { prometheusFacts, statusOf } from "./prometheus-status.ts";

const settings = { image: "operator:1", options: {} };

/** As the server gives it back. */
function stored<T extends { readonly metadata: object }>(object: T): T & Stored<T & Prometheus> {
  const metadata = { uid: "7", resourceVersion: "1", generation: 3, creationTimestamp: "2026-01-01T00:00:00Z" };
  return { ...object, metadata: { ...metadata, ...object.metadata } } as unknown as T & Stored<T & Prometheus>;
}

function seen(spec: Partial<PrometheusSpec>, more: Partial<Seen> = {}): Seen {
  return {
    prometheus: stored(Prometheus({ name: "main", namespace: "monitoring", spec })),
    serviceMonitors: [],
    podMonitors: [],
    probes: [],
    scrapeConfigs: [],
    rules: [],
    namespaces: [],
    assets: new Assets(),
    statefulSets: [],
    pods: [],
    hasConfiguration: false,
    ...more,
  };
}

function monitor(name: string, endpoint: ServiceMonitor["spec"]["endpoints"][number]): Stored<ServiceMonitor> {
  return stored(ServiceMonitor({ name, namespace: "monitoring", spec: { selector: {}, endpoints: [endpoint] } }));
}

function applied(of: Plan): Extract<Plan, { readonly kind: "apply" }> {
  if (of.kind !== "apply") throw new Error(JSON.stringify(of));
  return of;
}

function childNames(of: Plan): readonly string[] {
  return applied(of).children.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
}

function configurationIn(of: Plan): { readonly scrape_configs: readonly { readonly job_name: string }[] } {
  const secret = applied(of).children[0] as Secret;
  const data = Buffer.from(secret.data?.["prometheus.yaml.gz"] ?? "", "base64");
  return parse(gunzipSync(data).toString()) as { readonly scrape_configs: readonly { readonly job_name: string }[] };
}

const rule = stored(
  PrometheusRule({
    name: "r",
    namespace: "monitoring",
    spec: { groups: [{ name: "g", rules: [{ record: "a", expr: "b" }] }] },
  }),
);
const wrongRule = stored(
  PrometheusRule({
    name: "w",
    namespace: "monitoring",
    spec: { groups: [{ name: "g", rules: [{ record: "a", expr: "rate(b)" }] }] },
  }),
);

test("a Prometheus consists of its Secrets, ConfigMaps and a StatefulSet for each shard", () => {
  expect(childNames(plan(seen({ serviceMonitorSelector: {}, shards: 2 }), settings))).toEqual([
    "Secret/prometheus-main",
    "Secret/prometheus-main-tls-assets-0",
    "Secret/prometheus-main-web-config",
    "ConfigMap/prometheus-main-rulefiles-0",
    "StatefulSet/prometheus-main",
    "StatefulSet/prometheus-main-shard-1",
  ]);
});

test("without a selector of targets, the configuration is the user's", () => {
  const made = plan(seen({ ruleSelector: {} }), settings);
  expect(childNames(made)).not.toContain("Secret/prometheus-main");
  expect(applied(made).hash).toBeUndefined();
});

test("one invalid object is left out, and the others stay", () => {
  const monitors = [monitor("good", { port: "web" }), monitor("bad", { scrapeTimeout: "1h" })];
  const made = plan(
    seen({ serviceMonitorSelector: {} }, { serviceMonitors: monitors, rules: [rule, wrongRule] }),
    settings,
  );
  expect(configurationIn(made).scrape_configs.map(({ job_name: name }) => name)).toEqual([
    "serviceMonitor/monitoring/good/0",
  ]);
  expect(applied(made).rejected.map(({ object }) => object.metadata.name)).toEqual(["bad", "w"]);
  const rules = applied(made).children.find(({ kind }) => kind === "ConfigMap") as ConfigMap;
  expect(Object.keys(rules.data ?? {})).toEqual(["monitoring-r-7.yaml"]);
});

test.each<readonly [Partial<PrometheusSpec>, string]>([
  [{ version: "new" }, 'spec.version: expected a version, got "new"'],
  [{ version: "4.0.0" }, 'spec.version: expected a version 2 or 3 of Prometheus, got "4.0.0"'],
  [{ scrapeTimeout: "1h" }, 'spec.scrapeTimeout: expected a duration of at most scrapeInterval "30s", got "1h"'],
  [
    { additionalScrapeConfigs: { name: "more", key: "jobs" } },
    'spec.additionalScrapeConfigs: key "jobs" of Secret "monitoring/more" does not exist; create it',
  ],
])("%j changes nothing, and the condition says why", (spec, message) => {
  const of = seen({ serviceMonitorSelector: {}, ...spec });
  const made = plan(of, settings);
  expect(made.kind).toBe("refused");
  expect(conditionsOf(prometheusFacts(of), made)).toContainEqual({
    type: "Reconciled",
    status: "False",
    reason: "InvalidConfiguration",
    message,
  });
});

test("a paused Prometheus changes nothing", () => {
  expect(plan(seen({ paused: true }), settings)).toEqual({ kind: "paused" });
});

test("the files of TLS are in a Secret of their own", () => {
  const assets = new Assets(new Map([["Secret/monitoring/tls/ca", "CA"]]));
  const serviceMonitors = [monitor("a", { tlsConfig: { ca: { secret: { name: "tls", key: "ca" } } } })];
  const made = plan(seen({ serviceMonitorSelector: {} }, { serviceMonitors, assets }), settings);
  expect((applied(made).children[1] as Secret).data).toEqual({ "0_monitoring_tls_ca": "Q0E=" });
});

test("the configuration is loaded when all pods say so, and the condition reports a refusal", () => {
  const of = seen({ serviceMonitorSelector: {} });
  const made = plan(of, settings);
  const { hash = "" } = applied(made);
  const pod = (loaded: Seen["pods"][number]["loaded"]): Seen["pods"][number] => ({
    name: "p-0",
    isReady: true,
    loaded,
  });
  const told = (pods: Seen["pods"]): readonly string[] => {
    const condition = conditionsOf(prometheusFacts({ ...of, pods }), made).find(
      ({ type }) => type === "ConfigurationLoaded",
    );
    return [condition?.status ?? "", condition?.reason ?? "", condition?.message ?? ""];
  };
  expect(told([])).toEqual(["False", "Waiting", "Waiting for the first pod"]);
  expect(told([pod({ hash })])).toEqual(["True", "Loaded", "All pods have loaded the configuration"]);
  expect(told([pod({ hash: "old" })])).toEqual(["False", "Waiting", "Waiting until these pods load it: p-0"]);
  expect(told([pod(undefined)])).toEqual(["False", "Waiting", "Waiting until these pods load it: p-0"]);
  expect(told([pod({ hash: "old", failing: { hash, message: "Prometheus answered 500: no", since: "t" } })])).toEqual([
    "False",
    "Refused",
    'Pod "p-0" keeps its old configuration: Prometheus answered 500: no',
  ]);
  expect(isLoaded({ ...prometheusFacts(of), pods: [pod({ hash })] }, hash)).toBe(true);
  expect(isLoaded({ ...prometheusFacts(of), pods: [pod({ hash }), pod(undefined)] }, hash)).toBe(false);
  expect(isLoaded({ ...prometheusFacts(of), pods: [] }, hash)).toBe(false);
});

test("a Prometheus that listens locally is not asked", () => {
  const of = seen({ serviceMonitorSelector: {}, listenLocal: true });
  const made = plan(of, settings);
  expect(conditionsOf(prometheusFacts(of), made)).toContainEqual({
    type: "ConfigurationLoaded",
    status: "Unknown",
    reason: "ListensLocally",
    message: "With spec.listenLocal, only the pod itself can ask what is loaded",
  });
  expect(isLoaded(prometheusFacts(of), applied(made).hash)).toBe(true);
});

test("the status counts the pods of all shards, and lists what was left out", () => {
  const of = seen({ serviceMonitorSelector: {}, shards: 2, replicas: 2, runtime: { goGC: 50 }, version: "2.52.0" });
  expect(statusOf(of, prometheusFacts(of), plan(of, settings))).toMatchObject({
    observedGeneration: 3,
    replicas: 4,
    availableReplicas: 0,
    unavailableReplicas: 4,
    shards: 2,
    problems: ['Prometheus "monitoring/main": runtime: ignored, because it needs Prometheus 2.53.0 or newer'],
  });
});

test("a field that nobody acts on is a problem of the status", () => {
  const misspelt = { serviceMonitorSelector: {}, retentoin: "1d" };
  const of = seen(misspelt);
  expect(statusOf(of, prometheusFacts(of), plan(of, settings)).problems).toEqual([
    'Prometheus "monitoring/main": spec.retentoin: this operator does not act on this field; correct its name, or remove it',
  ]);
});
