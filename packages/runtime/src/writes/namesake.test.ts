import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, noting, notesOf } from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

test("a namesake inherits no back-off, whether it came before its predecessor's key ran again or long after", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    reconcile: () => Promise.reject(new Error("the machine is broken")),
  });
  world.start([definition]);
  await world.run(60_000);
  // Up to here each wait was longer than the one before.
  expect(runsMs.length).toBeLessThan(16);
  for (const absentMs of [0, 60_000]) {
    await world.client.delete(Candy, key);
    await world.run(absentMs);
    await world.client.create(Candy, candy("mint"));
    const before = runsMs.length;
    await world.run(1_000);
    // 5, 10, 20 … 320 ms, half to all of each.
    expect(runsMs.length - before).toBeGreaterThanOrEqual(7);
    await world.run(59_000);
  }
});

test("a namesake that is made paused is left alone without a word, for nobody has paused it while it ran", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world);
  world.start([definition]);
  await world.run(1_000);
  await world.client.delete(Candy, key);
  const paused = { ...candy("mint"), metadata: { ...key, annotations: { "setpoint.dev/paused": "true" } } };
  await world.client.create(Candy, paused);
  await world.run(1_000);
  expect(runsMs).toHaveLength(1);
  expect(await notesOf(world, "Paused")).toEqual([]);
  await world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/paused": null } } });
  await world.run(1_000);
  expect(runsMs).toHaveLength(2);
  await world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/paused": "true" } } });
  await world.run(1_000);
  expect(await notesOf(world, "Paused")).toHaveLength(1);
});
