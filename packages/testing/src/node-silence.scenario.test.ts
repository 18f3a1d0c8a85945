/** Only a node that is silent is taken for lost, whatever becomes of clocks and watches. */
import { Node, Pod } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";
import { subject } from "./node-worlds.fixture.ts";

const hourMs = 3_600_000;

async function wellNodes(world: World): Promise<readonly string[]> {
  const isWell = ({ spec, status }: Node): boolean =>
    spec?.taints === undefined && status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
  return (await world.list(Node)).filter(isWell).map(({ metadata }) => metadata.name);
}

test.each([hourMs, -hourMs])("nodes stay ready when the controller's clock is set by %d ms", async (byMs) => {
  await using world = await simulate({ seed: 5, ...subject() });
  world.jumpOperatorClock(byMs);
  await world.run(180_000);
  expect(await wellNodes(world)).toEqual(["node-0", "node-1"]);
  world.failNode("node-0");
  await world.run(70_000);
  expect(await wellNodes(world)).toEqual(["node-1"]);
});

test("nodes stay ready while the controller's watch of Leases is silent", async () => {
  const at = { by: "controllers", event: "leases", nth: 1 };
  await using world = await simulate({ seed: 5, ...subject(), faults: [{ kind: "C7", at, forMs: 160_000 }] });
  for (let passedMs = 0; passedMs < 150_000; passedMs += 1_000) {
    await world.run(1_000);
    expect(await wellNodes(world)).toEqual(["node-0", "node-1"]);
  }
});

test("a pod tolerates its lost node for as long as before when the controller's clock is set", async () => {
  await using world = await simulate({ seed: 5, ...subject() });
  const spec = { nodeName: "node-0", containers: [{ name: "c", image: "c:1" }] };
  await world.apply(Pod({ name: "resident", namespace: "default", spec }));
  world.failNode("node-0");
  await world.run(80_000);
  world.jumpOperatorClock(hourMs);
  // A change of the pod lets the controller look at it.
  await world.patch(Pod, "resident", { metadata: { labels: { seen: "again" } } });
  await world.run(200_000);
  expect((await world.get(Pod, "resident")).metadata.deletionTimestamp).toBeUndefined();
  await world.run(120_000);
  expect((await world.get(Pod, "resident")).metadata.deletionTimestamp).toBeDefined();
});
