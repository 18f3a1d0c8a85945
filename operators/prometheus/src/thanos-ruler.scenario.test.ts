/** Stories of a ThanosRuler in the simulated world. */
import { seconds } from "setpoint";
import { ConfigMap, Pod, Service, StatefulSet } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { PrometheusRule } from "./kind/prometheus-rule.ts";
import { ThanosRuler } from "./kind/thanos-ruler.ts";
import { prometheus, rules, setUp, type Stage } from "./testing/prometheus-stage.ts";
import { ruler } from "./testing/ruler-stage.ts";

async function told({ world }: Stage, type: string): Promise<string> {
  const { status = "", reason = "", message = "" } = conditionOf(await world.get(ThanosRuler, "main"), type) ?? {};
  return `${status} ${reason}: ${message}`;
}

test("a ThanosRuler becomes available, and says that its rules are loaded", async () => {
  const stage = await setUp(31);
  const { world, reloaders } = stage;
  await using _ = world;
  await world.apply(rules("good", { record: "a", expr: "b" }));
  await world.apply(ruler({ replicas: 2 }));
  await world.run(seconds(90));
  expect(await told(stage, "Available")).toBe("True AllPodsReady: 2 of 2 pods are available");
  const [file] = Object.keys((await world.get(ConfigMap, "thanos-ruler-main-rulefiles-0")).data ?? {});
  expect(file).toMatch(/^default-good-/);
  await reloaders.mount(world, undefined);
  await world.run(seconds(90));
  expect(await told(stage, "ConfigurationLoaded")).toBe("True Loaded: All pods have loaded the configuration");
  expect((await world.list(Service)).map(({ metadata }) => metadata.name)).toContain("thanos-ruler-operated");
  await world.expectQuiet();
});

test("rules that are added reach the pods, and no pod restarts", async () => {
  const stage = await setUp(32);
  const { world } = stage;
  await using _ = world;
  await world.apply(ruler());
  await world.run(seconds(60));
  const [before] = await world.list(Pod);
  await world.apply(rules("more", { record: "a", expr: "b" }));
  await world.run(seconds(10));
  expect(Object.keys((await world.get(ConfigMap, "thanos-ruler-main-rulefiles-0")).data ?? {})).toHaveLength(1);
  expect((await world.list(Pod)).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
});

test("rules name the Prometheuses and the ThanosRulers that use them, and a wrong one is left out", async () => {
  const stage = await setUp(33);
  const { world } = stage;
  await using _ = world;
  await world.apply(rules("wrong", { record: "a", expr: "rate(b)" }));
  await world.apply(prometheus());
  await world.apply(ruler());
  await world.run(seconds(60));
  const bindings = (await world.get(PrometheusRule, "wrong")).status?.bindings ?? [];
  expect(bindings.map(({ resource, conditions }) => [resource, conditions?.[0]?.status])).toEqual([
    ["prometheuses", "False"],
    ["thanosrulers", "False"],
  ]);
  expect(await told(stage, "Reconciled")).toContain('PrometheusRule "default/wrong": spec.groups[0].rules[0].expr');
});

test("a ThanosRuler that can ask nobody is not started", async () => {
  const stage = await setUp(34);
  const { world } = stage;
  await using _ = world;
  await world.apply(ruler({ queryEndpoints: [] }));
  await world.run(seconds(30));
  expect(await told(stage, "Reconciled")).toBe(
    "False InvalidConfiguration: spec.queryEndpoints: expected at least one, or queryConfig, got none",
  );
  expect(await world.list(StatefulSet)).toEqual([]);
});
