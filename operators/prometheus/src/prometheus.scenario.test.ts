/** Stories of a Prometheus in the simulated world. */
import { seconds } from "setpoint";
import { ConfigMap, Pod, Secret, Service, StatefulSet } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { Probe } from "./kind/probe.ts";
import { Prometheus } from "./kind/prometheus.ts";
import { ScrapeConfig } from "./kind/scrape-config.ts";
import { ServiceMonitor } from "./kind/service-monitor.ts";
import {
  configurationIn,
  monitor,
  probe,
  prometheus,
  rules,
  scrapeConfig,
  setUp,
  type Stage,
} from "./testing/prometheus-stage.ts";

async function jobsOf({ world }: Stage): Promise<readonly string[]> {
  const text = configurationIn(await world.get(Secret, "prometheus-main"));
  return [...text.matchAll(/job_name: (\S+)/g)].map(([, name = ""]) => name);
}

async function told({ world }: Stage, type: string): Promise<string> {
  const { status = "", reason = "", message = "" } = conditionOf(await world.get(Prometheus, "main"), type) ?? {};
  return `${status} ${reason}: ${message}`;
}

/** The pods see what is in the objects, and the operator asks them again. */
async function load({ world, reloaders }: Stage): Promise<void> {
  await reloaders.mount(world, "prometheus-main");
  await world.run(seconds(90));
}

test("a Prometheus becomes available, and says that its configuration is loaded", async () => {
  const stage = await setUp(1);
  const { world } = stage;
  await using _ = world;
  await world.apply(monitor("app"));
  await world.apply(prometheus({ replicas: 2 }));
  await world.run(seconds(90));
  expect(await jobsOf(stage)).toEqual(["serviceMonitor/default/app/0"]);
  expect(await told(stage, "Available")).toBe("True AllPodsReady: 2 of 2 pods are available");
  expect(await told(stage, "ConfigurationLoaded")).toContain("Waiting until these pods load it: prometheus-main-");
  await load(stage);
  expect(await told(stage, "ConfigurationLoaded")).toBe("True Loaded: All pods have loaded the configuration");
  expect((await world.list(Service)).map(({ metadata }) => metadata.name)).toContain("prometheus-operated");
  await world.expectQuiet();
});

test("a monitor that is added, changed and deleted changes the configuration, and no pod restarts", async () => {
  const stage = await setUp(2);
  const { world } = stage;
  await using _ = world;
  await world.apply(prometheus());
  await world.run(seconds(30));
  const [before] = await world.list(Pod);
  await world.apply(monitor("app"));
  await world.run(seconds(5));
  expect(await jobsOf(stage)).toEqual(["serviceMonitor/default/app/0"]);
  await world.apply(monitor("app", { port: "other" }));
  await world.run(seconds(5));
  expect(configurationIn(await world.get(Secret, "prometheus-main"))).toContain("regex: other");
  await world.delete(ServiceMonitor, "app");
  await world.run(seconds(5));
  expect(await jobsOf(stage)).toEqual([]);
  expect((await world.list(Pod)).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
});

test("an invalid monitor is left out until its Secret exists", async () => {
  const stage = await setUp(3);
  const { world } = stage;
  await using _ = world;
  const token = { name: "token", key: "value" };
  await world.apply(monitor("good"));
  await world.apply(monitor("bad", { port: "web", authorization: { credentials: token } }));
  await world.apply(prometheus());
  await world.run(seconds(30));
  expect(await jobsOf(stage)).toEqual(["serviceMonitor/default/good/0"]);
  expect(await told(stage, "Reconciled")).toBe(
    'True SomeObjectsLeftOut: Left out: ServiceMonitor "default/bad": spec.endpoints[0].authorization.credentials: key "value" of Secret "default/token" does not exist; create it',
  );
  const accepted = async (name: string): Promise<unknown> =>
    (await world.get(ServiceMonitor, name)).status?.bindings?.map(({ name: by, conditions }) => [
      by,
      conditions?.[0]?.status,
    ]);
  expect([await accepted("good"), await accepted("bad")]).toEqual([[["main", "True"]], [["main", "False"]]]);
  await world.apply(Secret({ name: "token", data: { value: "YQ==" } }));
  await load(stage);
  expect(await jobsOf(stage)).toEqual(["serviceMonitor/default/bad/0", "serviceMonitor/default/good/0"]);
  expect(await accepted("bad")).toEqual([["main", "True"]]);
  await world.delete(Prometheus, "main");
  await world.run(seconds(5));
  expect(await accepted("bad")).toEqual([]);
});

test("a Probe is a job beside the monitors, and says when it is left out", async () => {
  const stage = await setUp(8);
  const { world } = stage;
  await using _ = world;
  await world.apply(monitor("app"));
  await world.apply(probe("web"));
  await world.apply(Probe({ name: "lost", spec: {} }));
  await world.apply(prometheus({ probeSelector: {} }));
  await world.run(seconds(30));
  expect(await jobsOf(stage)).toEqual(["serviceMonitor/default/app/0", "probe/default/web"]);
  expect(await told(stage, "Reconciled")).toContain('Probe "default/lost": spec.targets: expected staticConfig');
  const accepted = async (name: string): Promise<unknown> =>
    (await world.get(Probe, name)).status?.bindings?.[0]?.conditions?.[0]?.status;
  expect([await accepted("web"), await accepted("lost")]).toEqual(["True", "False"]);
});

test("a ScrapeConfig is a job, and waits for the Secret that its discovery names", async () => {
  const stage = await setUp(9);
  const { world } = stage;
  await using _ = world;
  const tokenRef = { name: "consul", key: "token" };
  await world.apply(scrapeConfig("vms"));
  await world.apply(ScrapeConfig({ name: "consul", spec: { consulSDConfigs: [{ server: "consul:8500", tokenRef }] } }));
  await world.apply(prometheus({ scrapeConfigSelector: {} }));
  await world.run(seconds(30));
  expect(await jobsOf(stage)).toEqual(["scrapeConfig/default/vms"]);
  expect(await told(stage, "Reconciled")).toContain(
    'ScrapeConfig "default/consul": spec.consulSDConfigs[0].tokenRef: key "token" of Secret "default/consul" does not exist',
  );
  await world.apply(Secret({ name: "consul", data: { token: "c2VjcmV0" } }));
  await load(stage);
  expect(await jobsOf(stage)).toEqual(["scrapeConfig/default/consul", "scrapeConfig/default/vms"]);
  expect(configurationIn(await world.get(Secret, "prometheus-main"))).toContain("token: secret");
  const { status } = await world.get(ScrapeConfig, "consul");
  expect(status?.bindings?.[0]?.conditions?.[0]?.status).toBe("True");
});

test("a configuration that Prometheus refuses is reported, and the report ends with the next one", async () => {
  const stage = await setUp(4);
  const { world, reloaders } = stage;
  await using _ = world;
  await world.apply(prometheus());
  await world.run(seconds(30));
  reloaders.refusal = "Prometheus answered 500: no";
  await load(stage);
  expect(await told(stage, "ConfigurationLoaded")).toBe(
    'False Refused: Pod "prometheus-main-0" keeps its old configuration: Prometheus answered 500: no',
  );
  reloaders.refusal = undefined;
  await world.apply(monitor("app"));
  await world.run(seconds(5));
  await load(stage);
  expect(await told(stage, "ConfigurationLoaded")).toBe("True Loaded: All pods have loaded the configuration");
});

test("rules are in ConfigMaps, and those that are wrong are not", async () => {
  const stage = await setUp(5);
  const { world } = stage;
  await using _ = world;
  await world.apply(rules("good", { record: "a", expr: "b" }));
  await world.apply(rules("wrong", { record: "a", expr: "rate(b)" }));
  await world.apply(prometheus());
  await world.run(seconds(30));
  const [files] = Object.keys((await world.get(ConfigMap, "prometheus-main-rulefiles-0")).data ?? {});
  expect(files).toMatch(/^default-good-/);
  expect(await told(stage, "Reconciled")).toContain('PrometheusRule "default/wrong": spec.groups[0].rules[0].expr');
});

test("hand-made changes are undone, and a paused Prometheus keeps them", async () => {
  const stage = await setUp(6);
  const { world } = stage;
  await using _ = world;
  await world.apply(prometheus());
  await world.run(seconds(30));
  await world.patch(StatefulSet, "prometheus-main", { spec: { replicas: 3 } });
  await world.run(seconds(30));
  expect((await world.get(StatefulSet, "prometheus-main")).spec?.replicas).toBe(1);
  await world.patch(Prometheus, "main", { spec: { paused: true } });
  await world.run(seconds(5));
  await world.patch(StatefulSet, "prometheus-main", { spec: { replicas: 3 } });
  await world.run(seconds(30));
  expect((await world.get(StatefulSet, "prometheus-main")).spec?.replicas).toBe(3);
  expect(await told(stage, "Reconciled")).toBe("Unknown Paused: spec.paused is true, so nothing is changed");
});

test("more shards are more StatefulSets, and fewer are fewer", async () => {
  const stage = await setUp(7);
  const { world } = stage;
  await using _ = world;
  await world.apply(prometheus({ shards: 2 }));
  await world.run(seconds(30));
  const names = async (): Promise<readonly string[]> =>
    (await world.list(StatefulSet)).map(({ metadata }) => metadata.name).toSorted();
  expect(await names()).toEqual(["prometheus-main", "prometheus-main-shard-1"]);
  await world.patch(Prometheus, "main", { spec: { shards: 1 } });
  await world.run(seconds(30));
  expect(await names()).toEqual(["prometheus-main"]);
  expect((await world.get(Prometheus, "main")).status?.shardStatuses).toMatchObject([{ shardID: "0" }]);
});
