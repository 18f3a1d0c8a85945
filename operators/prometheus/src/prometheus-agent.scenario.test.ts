/** Stories of a PrometheusAgent in the simulated world. */
import { seconds } from "setpoint";
import { DaemonSet, Secret, Service, StatefulSet } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { PodMonitor } from "./kind/pod-monitor.ts";
import { Prometheus } from "./kind/prometheus.ts";
import { PrometheusAgent } from "./kind/prometheus-agent.ts";
import {
  agent,
  configurationIn,
  monitor,
  nodeAgent,
  podMonitor,
  prometheus,
  setUp,
  type Stage,
} from "./testing/prometheus-stage.ts";

async function told({ world }: Stage, type: string): Promise<string> {
  const { status = "", reason = "", message = "" } = conditionOf(await world.get(PrometheusAgent, "main"), type) ?? {};
  return `${status} ${reason}: ${message}`;
}

test("an agent scrapes in a StatefulSet, has no rules, and says that its configuration is loaded", async () => {
  const stage = await setUp(21);
  const { world, reloaders } = stage;
  await using _ = world;
  await world.apply(monitor("app"));
  await world.apply(agent({ remoteWrite: [{ url: "http://prometheus-operated:9090/api/v1/write" }] }));
  await world.run(seconds(90));
  expect((await world.list(StatefulSet)).map(({ metadata }) => metadata.name)).toEqual(["prom-agent-main"]);
  const text = configurationIn(await world.get(Secret, "prom-agent-main"));
  expect(text).toContain("job_name: serviceMonitor/default/app/0");
  expect(text).toContain("url: http://prometheus-operated:9090/api/v1/write");
  expect(text).not.toMatch(/rule_files|evaluation_interval|alerting/);
  expect(await told(stage, "Available")).toBe("True AllPodsReady: 1 of 1 pods are available");
  await reloaders.mount(world, "prom-agent-main");
  await world.run(seconds(90));
  expect(await told(stage, "ConfigurationLoaded")).toBe("True Loaded: All pods have loaded the configuration");
  expect((await world.list(Service)).map(({ metadata }) => metadata.name)).toContain("prometheus-agent-operated");
  await world.expectQuiet();
});

test("an agent on each node scrapes the pods of its node, and its monitor names it", async () => {
  const stage = await setUp(22);
  const { world } = stage;
  await using _ = world;
  await world.apply(podMonitor("app"));
  await world.apply(nodeAgent());
  await world.run(seconds(60));
  const [set] = await world.list(DaemonSet);
  const nodes = set?.status?.desiredNumberScheduled ?? 0;
  expect(nodes).toBeGreaterThan(0);
  expect(await told(stage, "Available")).toBe(`True AllPodsReady: ${nodes} of ${nodes} pods are available`);
  const text = configurationIn(await world.get(Secret, "prom-agent-main"));
  expect(text).toContain("field: spec.nodeName=$(NODE_NAME)");
  expect(text).not.toContain("hashmod");
  const bindings = (await world.get(PodMonitor, "app")).status?.bindings ?? [];
  expect(bindings.map(({ resource, name, conditions }) => [resource, name, conditions?.[0]?.status])).toEqual([
    ["prometheusagents", "main", "True"],
  ]);
});

test("fields of StatefulSets are refused when there is a pod on each node", () => {
  expect(() => agent({ mode: "DaemonSet" })).toThrow("serviceMonitorSelector cannot be set when mode is DaemonSet");
});

test("a Prometheus and an agent of the same name do not touch each other", async () => {
  const stage = await setUp(24);
  const { world } = stage;
  await using _ = world;
  await world.apply(agent());
  await world.apply(prometheus());
  await world.run(seconds(90));
  expect((await world.list(StatefulSet)).map(({ metadata }) => metadata.name).toSorted()).toEqual([
    "prom-agent-main",
    "prometheus-main",
  ]);
  await world.patch(PrometheusAgent, "main", { spec: { replicas: 2 } });
  await world.run(seconds(90));
  expect(await told(stage, "Available")).toContain("2 of 2");
  expect(conditionOf(await world.get(Prometheus, "main"), "Available")?.message).toBe("1 of 1 pods are available");
});
