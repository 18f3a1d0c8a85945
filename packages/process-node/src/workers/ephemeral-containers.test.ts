import { expect, test } from "vitest";
import { main, PodWorld } from "./pod-world.fixture.ts";

const debug = { name: "debug", image: "img:2", targetContainerName: "main" } as const;

test("an ephemeral container starts in a running pod, joins its target, and never starts again", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  world.change({ ephemeralContainers: [debug] });
  await world.run(1);
  expect(world.process("debug").spec.joinedProcess).toBe(world.process("main").pid);
  expect(world.status.ephemeralContainerStatuses).toMatchObject([
    { name: "debug", state: { running: {} }, ready: false },
  ]);
  expect(world.condition("Ready")).toBe("True");
  world.process("debug").exit(3);
  await world.run(600);
  expect(world.startsOf("debug")).toHaveLength(1);
  expect(world.status.ephemeralContainerStatuses).toMatchObject([{ state: { terminated: { exitCode: 3 } } }]);
  expect(world.status.phase).toBe("Running");
});

test("an ephemeral container waits for a target that does not run", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  world.change({ ephemeralContainers: [{ ...debug, targetContainerName: "nope" }] });
  await world.run(1);
  expect(world.status.ephemeralContainerStatuses).toMatchObject([
    { state: { waiting: { reason: "CreateContainerConfigError" } } },
  ]);
});

test("an ephemeral container stops with its pod", async () => {
  const world = new PodWorld({ containers: [main], ephemeralContainers: [debug] });
  await world.run(10);
  world.delete(5);
  await world.run(10);
  expect(world.process("debug").signals).toContain("SIGTERM");
  expect(world.isRemoved).toBe(true);
});
