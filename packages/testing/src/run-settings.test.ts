/** 24 2.4 and 2.9: what an operator declares in `run` works wherever it is started. */
import { ConfigMap, EventsV1Event } from "@setpoint/api";
import { controller, defineKind, defineOperator } from "setpoint";
import { cached } from "setpoint/process";
import { expect, test } from "vitest";
import { z } from "zod";
import { simulate } from "./index.ts";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ alike: z.int(), label: z.string().optional() }),
});

const flavors = cached(Candy, { indexes: { flavor: ({ spec }) => [spec.flavor] } });

const mint = Candy({ name: "mint", spec: { flavor: "fresh" } });
const lime = Candy({ name: "lime", spec: { flavor: "fresh" } });
const cola = Candy({ name: "cola", spec: { flavor: "sweet" } });

test("24 2.9: custom indexes that an operator declares are there for its reconciles", async () => {
  const definition = controller(Candy, {
    async reconcile({ spec }, { list, status }) {
      await status({ alike: list(Candy, { index: { name: "flavor", value: spec.flavor } }).length });
    },
  });
  const operator = defineOperator({
    name: "candy",
    controllers: [definition],
    run: { caches: { kinds: [flavors] } },
  });
  await using world = await simulate({ seed: 1, operators: [operator] });
  for (const candy of [mint, lime, cola]) await world.apply(candy);
  await world.settled();
  await world.patch(Candy, "mint", { spec: { flavor: "sweet" } });
  await world.settled();
  expect((await world.get(Candy, "mint")).status?.alike).toBe(2);
});

test("24 2.9: an index that nobody declares is refused with what to do", async () => {
  const definition = controller(Candy, {
    async reconcile(_candy, { list }) {
      list(Candy, { index: { name: "flavor", value: "sweet" } });
    },
  });
  await using world = await simulate({
    seed: 1,
    operators: [defineOperator({ name: "candy", controllers: [definition] })],
  });
  await world.apply(mint);
  await expect(world.settled()).rejects.toThrow(
    'Cannot list Candy by index "flavor": add it to `indexes` of the kind in `caches`',
  );
});

test("24 2.9: transforms that an operator declares reduce what its reconciles see", async () => {
  const definition = controller(Candy, {
    watches: [{ of: ConfigMap, wakes: () => [{ namespace: "default", name: "mint" }] }],
    async reconcile(_candy, { get, status }) {
      const map = get(ConfigMap, "label");
      await status({ alike: 0, label: JSON.stringify(map?.data ?? null) });
    },
  });
  const withoutData = cached(ConfigMap, {
    transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
  });
  const operator = defineOperator({
    name: "candy",
    controllers: [definition],
    run: { caches: { kinds: [withoutData] } },
  });
  await using world = await simulate({ seed: 1, operators: [operator] });
  await world.apply(ConfigMap({ name: "label", data: { text: "sweet" } }));
  await world.apply(mint);
  await world.settled();
  expect((await world.get(Candy, "mint")).status?.label).toBe("null");
});

test("24 2.4: a reconcile emits Events on any object that it has read", async () => {
  const definition = controller(Candy, {
    watches: [ConfigMap],
    async reconcile(_candy, { get, event }) {
      const map = get(ConfigMap, "label");
      if (map !== undefined) event("Warning", "Unreadable", "The label is unreadable", map);
    },
  });
  await using world = await simulate({
    seed: 1,
    operators: [defineOperator({ name: "candy", controllers: [definition] })],
  });
  await world.apply(ConfigMap({ name: "label", data: {} }));
  await world.apply(mint);
  await world.settled();
  const events = await world.list(EventsV1Event);
  expect(events.map(({ regarding, reason }) => `${regarding?.kind} ${regarding?.name} ${reason}`)).toContain(
    "ConfigMap label Unreadable",
  );
});

test("24 2.9: an operator gets its manager when it has started", async () => {
  const started: boolean[] = [];
  const operator = defineOperator({
    name: "candy",
    controllers: [controller(Candy, { async reconcile() {} })],
    run: { started: (manager) => void started.push(manager.informers.find(Candy) !== undefined) },
  });
  await using _world = await simulate({ seed: 1, operators: [operator] });
  expect(started).toEqual([true]);
});

test("24 2.9: an operator that declares clusters works in those and not at home", async () => {
  let reconciles = 0;
  const asked: (readonly string[])[] = [];
  const definition = controller(Candy, {
    async reconcile() {
      reconciles++;
    },
  });
  const operator = defineOperator({
    name: "candy",
    controllers: [definition],
    run: { clusters: (registry) => void asked.push(registry.names()) },
  });
  await using world = await simulate({ seed: 1, operators: [operator] });
  await world.apply(mint);
  await world.settled();
  expect({ asked, reconciles }).toEqual({ asked: [[]], reconciles: 0 });
});
