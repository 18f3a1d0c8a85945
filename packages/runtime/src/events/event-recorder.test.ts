import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { createMetrics } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, type ControllerWorld } from "../run/controller-world.fixture.ts";
import { Event } from "../run/served-kinds.fixture.ts";
import { EventRecorder } from "./event-recorder.ts";

interface StoredEvent extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string; readonly uid: string };
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

async function setUp(
  world: ControllerWorld,
): Promise<{ readonly object: Stored<Candy>; readonly events: EventRecorder }> {
  const object = await world.client.create(Candy, candy("mint"));
  return { object, events: new EventRecorder(world.client, world.host, "candy-0") };
}

const present = async ({ client }: ControllerWorld): Promise<readonly StoredEvent[]> =>
  (await client.listAll(Event)).items as readonly KubeObject[] as readonly StoredEvent[];

const melted = { type: "Warning", reason: "Melted", message: "It is too warm" } as const;

test("equal events are one with a count, which is written when it doubles", async () => {
  await using world = createControllerWorld();
  const { object, events } = await setUp(world);
  for (let i = 0; i < 100; i++) {
    events.record(object, "candy", melted);
    await events.flushed();
  }
  const all = await present(world);
  expect(all.length).toBe(1);
  expect(all[0]).toMatchObject({
    reason: "Melted",
    note: "It is too warm",
    regarding: { name: "lolly" },
    series: { count: 64 },
  });
});

test("the same event after a quiet time is a new one", async () => {
  await using world = createControllerWorld();
  const { object, events } = await setUp(world);
  events.record(object, "candy", melted);
  await world.run(400_000);
  events.record(object, "candy", melted);
  await events.flushed();
  expect((await present(world)).length).toBe(2);
});

test("a continuing series is written at least every half hour, and recreated when the server has deleted it", async () => {
  await using world = createControllerWorld();
  const { object, events } = await setUp(world);
  for (let minute = 0; minute < 225; minute += 5) {
    events.record(object, "candy", melted);
    await world.run(300_000);
  }
  const [before] = await present(world);
  expect(before?.series?.count).toBeGreaterThan(32);
  await world.client.delete(Event, { name: before?.metadata.name ?? "", namespace: "default" });
  for (let minute = 0; minute < 60; minute += 5) {
    events.record(object, "candy", melted);
    await world.run(300_000);
  }
  const [after] = await present(world);
  expect(after?.series?.count).toBeGreaterThan(before?.series?.count ?? 0);
});

test("one object cannot flood the server: what is too much is dropped and counted", async () => {
  await using world = createControllerWorld();
  const { object } = await setUp(world);
  const metrics = createMetrics();
  const events = new EventRecorder(world.client, { ...world.host, metrics }, "candy-0");
  for (let i = 0; i < 60; i++) {
    events.record(object, "candy", { ...melted, message: `piece ${i}` });
    await events.flushed();
  }
  expect((await present(world)).length).toBe(25);
  expect(metrics.expose()).toMatch(/setpoint_events_dropped_total(\{\})? 35/);
  await world.run(600_000);
  for (let i = 100; i < 110; i++) events.record(object, "candy", { ...melted, message: `piece ${i}` });
  await events.flushed();
  expect((await present(world)).length).toBe(27);
});

test("what the API does not take is cut: long notes in whole characters, long names and reasons", async () => {
  await using world = createControllerWorld();
  const { object, events } = await setUp(world);
  const metadata = { ...object.metadata, name: "n".repeat(253) };
  events.record({ ...object, metadata }, "candy", {
    type: "Normal",
    reason: "R".repeat(200),
    message: "€".repeat(1_000),
  });
  await events.flushed();
  const [event] = await present(world);
  expect(event?.note).toBe("€".repeat(341));
  expect(event?.reason.length).toBe(128);
  expect(event?.metadata.name?.length).toBeLessThanOrEqual(253);
});

test("a server that refuses events disturbs nobody", async () => {
  await using world = createControllerWorld();
  const { object } = await setUp(world);
  const client = { ...world.client, create: () => Promise.reject(new Error("no")) };
  const events = new EventRecorder(client, world.host, "candy-0");
  events.record(object, "candy", melted);
  events.record(object, "candy", melted);
  await events.flushed();
  expect(await present(world)).toEqual([]);
});
