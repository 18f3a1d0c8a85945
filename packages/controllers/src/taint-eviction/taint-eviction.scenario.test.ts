import { Event, Node, Pod } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const taint = { key: "gpu", value: "broken", effect: "NoExecute" };
const toleration = { key: "gpu", operator: "Exists", effect: "NoExecute" };

const pod = (name: string, ...tolerations: readonly object[]): Pod =>
  Pod({
    name,
    namespace: "default",
    // Nothing runs this node: what ends stays, and keeps its conditions.
    spec: { nodeName: "still", containers: [{ name: "c", image: "c:1" }], tolerations } as Pod["spec"],
  });

async function taintNode(world: World, taints: readonly object[]): Promise<void> {
  await world.patch(Node, "still", { spec: { taints } });
}

async function going(world: World): Promise<readonly string[]> {
  const pods = (await world.list(Pod)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  return pods.map(({ metadata }) => metadata.name);
}

async function start(world: World, ...pods: readonly Pod[]): Promise<void> {
  await world.apply(Node({ name: "still" }));
  for (const each of pods) await world.apply(each);
}

test("a NoExecute taint of a user ends the pods that do not tolerate it, and says why", async () => {
  await using world = await simulate({ seed: 61 });
  await start(world, pod("guest"), pod("stays", toleration));
  await taintNode(world, [taint]);
  await world.until("the guest goes", async () => (await going(world)).join() === "guest");
  const { status } = await world.get(Pod, "guest");
  expect(status?.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
    status: "True",
    reason: "DeletionByTaintManager",
  });
  const events = await world.list(Event);
  expect(events.find(({ reason }) => reason === "TaintManagerEviction")?.message).toBe(
    "Marking for deletion Pod default/guest",
  );
  await world.expectQuiet({ hours: 1 });
});

test("a pod stays for its tolerationSeconds, and longer when the taint goes before", async () => {
  await using world = await simulate({ seed: 62 });
  await start(world, pod("guest", { ...toleration, tolerationSeconds: 60 }));
  await taintNode(world, [taint]);
  await world.run(50_000);
  expect(await going(world)).toEqual([]);
  await taintNode(world, []);
  await world.run(50_000);
  expect(await going(world)).toEqual([]);
  await taintNode(world, [taint]);
  await world.run(50_000);
  expect(await going(world)).toEqual([]);
  await world.run(20_000);
  expect(await going(world)).toEqual(["guest"]);
});
