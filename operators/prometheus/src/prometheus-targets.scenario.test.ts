/** Stories of monitors that have no targets, in the simulated world. */
import { type KindRef, type KubeObject, seconds } from "setpoint";
import { ClusterRole, ClusterRoleBinding, EndpointSlice, Namespace, Service } from "setpoint/kinds";
import { conditionOf, simulate, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { Probe } from "./kind/probe.ts";
import { ServiceMonitor } from "./kind/service-monitor.ts";
import { prometheusOperator } from "./prometheus-operator.ts";
import type { PoolReport } from "./reload/pool-report.ts";
import { monitor, probe, programs, prometheus, settings, SimulatedReloaders } from "./testing/prometheus-stage.ts";

const none: PoolReport = { active: 0, up: 0, unknown: 0, failures: [] };

interface Stage {
  readonly world: World;
  /** What Prometheus has, by the names of jobs. */
  readonly pools: Map<string, PoolReport>;
}

async function setUp(seed: number): Promise<Stage> {
  const pools = new Map<string, PoolReport>();
  const operator = prometheusOperator(new SimulatedReloaders().gateway, settings, (_, pool) =>
    Promise.resolve(pools.get(pool) ?? none),
  );
  return { world: await simulate({ seed, models: [programs], operators: [operator] }), pools };
}

/** The account of the Prometheus may discover targets. */
async function grant(world: World): Promise<void> {
  const rules = [{ apiGroups: [""], resources: ["services", "endpoints", "pods"], verbs: ["list", "watch"] }];
  await world.apply(ClusterRole({ name: "scrape", rules }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "scrape" };
  const subjects = [{ kind: "ServiceAccount", name: "default", namespace: "default" }];
  await world.apply(ClusterRoleBinding({ name: "scrape", roleRef, subjects }));
}

async function told<T extends KubeObject>(world: World, kind: KindRef<T>, name: string): Promise<string> {
  const { status = "", reason = "", message = "" } = conditionOf(await world.get(kind, name), "Scraped") ?? {};
  return `${status} ${reason}: ${message}`;
}

function service(name: string, port: string): Service {
  return Service({ name, labels: { app: name }, spec: { ports: [{ name: port, port: 80 }] } });
}

function slice(name: string): EndpointSlice {
  const endpoints = [{ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"] }];
  return EndpointSlice({ name, labels: { "kubernetes.io/service-name": name }, addressType: "IPv4", endpoints });
}

test("a monitor says step by step what it lacks, until its targets are up", async () => {
  const { world, pools } = await setUp(1);
  await using _ = world;
  await grant(world);
  const look = async (): Promise<string> => {
    await world.run(seconds(90));
    return told(world, ServiceMonitor, "app");
  };
  await world.apply(monitor("app"));
  expect(await look()).toContain("False NotSelected: There is no Prometheus that could select");
  await world.apply(prometheus({ serviceMonitorSelector: { matchLabels: { team: "a" } } }));
  expect(await look()).toBe(
    'False NotSelected: No Prometheus selects the ServiceMonitor: "default/main": spec.serviceMonitorSelector: label "team" is absent, expected "a"',
  );
  await world.apply(prometheus());
  expect(await look()).toContain(
    'False NoServiceMatches: spec.selector (app=app) matches no Service in namespace "default"; the nearest is',
  );
  await world.apply(service("app", "http"));
  await world.apply(slice("app"));
  expect(await look()).toContain('with 2 endpoints, but spec.endpoints[0].port "web" is no port; there is "http"');
  await world.apply(service("app", "web"));
  expect(await look()).toContain("Unknown NotFoundYet: 1 Service matches");
  const failures = [{ target: "http://10.0.0.1/metrics", message: "server returned HTTP status 403 Forbidden" }];
  pools.set("serviceMonitor/default/app/0", { active: 2, up: 1, unknown: 0, failures });
  expect(await look()).toBe(
    "False ScrapeFailed: 1 of 2 targets is down: http://10.0.0.1/metrics: server returned HTTP status 403 Forbidden",
  );
  pools.set("serviceMonitor/default/app/0", { ...none, active: 2, up: 2 });
  expect(await look()).toBe("True TargetsUp: 2 of 2 targets are up");
  await world.expectQuiet();
});

test("a namespace that is not selected is named, with the label that differs", async () => {
  const { world } = await setUp(2);
  await using _ = world;
  await grant(world);
  await world.apply(monitor("app"));
  await world.apply(prometheus({ serviceMonitorNamespaceSelector: { matchLabels: { scrape: "yes" } } }));
  await world.run(seconds(30));
  expect(await told(world, ServiceMonitor, "app")).toContain(
    'spec.serviceMonitorNamespaceSelector: namespace "default": label "scrape" is absent, expected "yes"',
  );
  await world.apply(Namespace({ name: "default", labels: { scrape: "yes" } }));
  await world.run(seconds(5));
  expect(await told(world, ServiceMonitor, "app")).toContain("False NoServiceMatches");
});

test("an account without rights is named, with what it may not do", async () => {
  const { world } = await setUp(3);
  await using _ = world;
  await world.apply(monitor("app"));
  await world.apply(service("app", "web"));
  await world.apply(prometheus({ serviceAccountName: "scraper" }));
  await world.run(seconds(90));
  expect(await told(world, ServiceMonitor, "app")).toBe(
    'False AccessDenied: ServiceAccount "default/scraper" of Prometheus may not list and watch services, pods, endpoints in namespace "default"; grant it with a Role or ClusterRole',
  );
});

test("a Probe says that its targets are down, and one that is left out says why", async () => {
  const { world, pools } = await setUp(4);
  await using _ = world;
  await world.apply(probe("web"));
  await world.apply(Probe({ name: "lost", spec: {} }));
  await world.apply(prometheus({ probeSelector: {} }));
  const failures = [{ target: "http://prober:9115/probe", message: "connection refused" }];
  pools.set("probe/default/web", { active: 1, up: 0, unknown: 0, failures });
  await world.run(seconds(90));
  expect(await told(world, Probe, "web")).toContain(
    "1 of 1 target is down: http://prober:9115/probe: connection refused",
  );
  expect(await told(world, Probe, "lost")).toContain("False LeftOut: Left out of the configuration: spec.targets");
});
