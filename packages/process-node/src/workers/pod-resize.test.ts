import type { ResourceRequirements } from "@setpoint/api";
import { expect, test } from "vitest";
import { main, PodWorld } from "./pod-world.fixture.ts";

const guaranteed = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});
const side = { ...main, name: "side" };
const small = guaranteed("20m", "32Mi");
const large = guaranteed("30m", "48Mi");
const [smallBytes, largeBytes] = [32 * 2 ** 20, 48 * 2 ** 20];

test("a container that has started shows its resources, and one without any shows that", async () => {
  const world = new PodWorld({ containers: [{ ...main, resources: small }, side] });
  await world.run(1);
  expect(world.statuses[0]?.containerStatuses?.[0]).not.toHaveProperty("resources");
  expect(world.container("main")).toMatchObject({ resources: small, allocatedResources: small.requests });
  expect(world.container("side")).toMatchObject({ resources: {} });
});

test("resources of a pod that runs change in place; its group is never narrower than its containers", async () => {
  const first = { ...main, resources: small };
  const world = new PodWorld({ containers: [first, { ...side, resources: large }] });
  await world.run(1);
  world.limits.length = 0;
  world.change({
    containers: [
      { ...first, resources: large },
      { ...side, resources: guaranteed("15m", "16Mi") },
    ],
  });
  await world.run(1);
  expect(world.limits.map(([name]) => name)).toEqual(["main", "side", "pod"]);
  expect(world.limits[0]?.[1]).toMatchObject({ cpuMillis: 30, cpuRequestMillis: 30, memoryBytes: largeBytes });
  expect(world.limits[2]?.[1]).toMatchObject({ cpuMillis: 45, memoryBytes: 64 * 2 ** 20 });
  expect(world.container("main")).toMatchObject({ resources: large, restartCount: 0 });
  world.limits.length = 0;
  world.change({
    containers: [
      { ...first, resources: large },
      { ...side, resources: large },
    ],
  });
  await world.run(1);
  expect(world.limits.map(([name]) => name)).toEqual(["pod", "side"]);
  expect(world.limits[0]?.[1]).toMatchObject({ memoryBytes: 2 * largeBytes });
});

test("a container whose policy asks for it restarts with its new resources", async () => {
  const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
  const container = { ...main, resources: small, resizePolicy };
  const world = new PodWorld({ containers: [container] });
  await world.run(1);
  world.change({ containers: [{ ...container, resources: guaranteed("30m", "32Mi") }] });
  await world.run(1);
  expect(world.starts).toHaveLength(1);
  world.change({ containers: [{ ...container, resources: guaranteed("30m", "16Mi") }] });
  await world.run(1);
  expect(world.starts).toHaveLength(2);
  expect(world.process("main").spec.limits).toMatchObject({ memoryBytes: smallBytes / 2 });
  expect(world.limits.at(-1)).toMatchObject(["pod", { memoryBytes: smallBytes / 2 }]);
  expect(world.container("main")?.restartCount).toBe(1);
});

test("a resize that the kernel refuses is reported, tried again, and done when it can be", async () => {
  const container = { ...main, resources: large };
  const world = new PodWorld({ containers: [container] });
  await world.run(1);
  world.resizeProblem = "memory limit (33554432) below current usage (40000000)";
  world.change({ containers: [{ ...container, resources: small }] });
  await world.run(1);
  expect(world.condition("PodResizeInProgress")).toBe("True Error");
  expect(world.container("main")).toMatchObject({ resources: large, allocatedResources: small.requests });
  world.resizeProblem = undefined;
  await world.run(10);
  expect(world.condition("PodResizeInProgress")).toBe("");
  expect(world.container("main")).toMatchObject({ resources: small });
});
