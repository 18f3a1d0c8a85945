import { Pod } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

type Spec = NonNullable<Pod["spec"]>;

function asking(name: string, cpu: string, spec: Partial<Spec> = {}): Pod {
  const containers = [{ name: "main", image: "main:1", resources: { requests: { cpu } } }];
  return Pod({ name, namespace: "default", spec: { containers, ...spec } });
}

async function scheduled(world: World, name: string): Promise<{ readonly node: string; readonly why: string }> {
  const pod = await world.get(Pod, name);
  const condition = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  return { node: pod.spec?.nodeName ?? "", why: condition?.message ?? "" };
}

async function untilRunning(world: World, name: string): Promise<void> {
  await world.until(`"${name}" runs`, async () => (await world.get(Pod, name)).status?.phase === "Running");
}

test("a pod that asks for 100 CPUs stays pending, and others run", async () => {
  await using world = await simulate({ seed: 1 });
  await world.apply(asking("huge", "100"));
  await world.apply(asking("small", "1"));
  await untilRunning(world, "small");
  expect(await scheduled(world, "huge")).toEqual({
    node: "",
    why: "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  });
  await world.run(5_000);
  await world.expectQuiet({ hours: 1 });
});

test("a pod that waits for room starts when another has ended", async () => {
  await using world = await simulate({ seed: 2 });
  for (const name of ["a", "b", "c"]) await world.apply(asking(name, "5"));
  for (const name of ["a", "b", "c"]) await untilRunning(world, name);
  await world.apply(asking("next", "5"));
  await world.run(5_000);
  expect((await scheduled(world, "next")).why).toContain("3 Insufficient cpu.");
  await world.delete(Pod, "b");
  await untilRunning(world, "next");
});

test("a pod of higher priority takes the place of one of lower priority", async () => {
  await using world = await simulate({ seed: 3 });
  for (const name of ["a", "b", "c"]) await world.apply(asking(name, "5"));
  for (const name of ["a", "b", "c"]) await untilRunning(world, name);
  await world.apply(asking("urgent", "5", { priorityClassName: "system-cluster-critical" }));
  await untilRunning(world, "urgent");
  expect((await world.list(Pod)).length).toBe(3);
  const { node } = await scheduled(world, "urgent");
  expect((await world.get(Pod, "urgent")).status?.nominatedNodeName ?? node).toBe(node);
});

test("a pod with a scheduling gate waits until the gate is removed", async () => {
  await using world = await simulate({ seed: 4 });
  await world.apply(asking("gated", "1", { schedulingGates: [{ name: "example.com/ready" }] }));
  await world.run(60_000);
  expect((await scheduled(world, "gated")).node).toBe("");
  await world.patch(Pod, "gated", { spec: { schedulingGates: [] } });
  await untilRunning(world, "gated");
});
