import { expect, test } from "vitest";
import { main, PodWorld } from "./pod-world.fixture.ts";

const init = (name: string) => ({ name, image: "img:1" });
const sidecar = (name: string, probe?: object) => ({
  ...init(name),
  restartPolicy: "Always" as const,
  ...(probe === undefined ? {} : { startupProbe: probe }),
});
const names = (world: PodWorld): string[] => world.starts.map(({ name }) => name);

test("init containers run one after the other, then the main ones", async () => {
  const world = new PodWorld({ initContainers: [init("a"), init("b")], containers: [main] });
  await world.run(1);
  expect(names(world)).toEqual(["a"]);
  for (const name of ["b", "main"])
    expect(world.container(name)?.state?.waiting, name).toEqual({ reason: "PodInitializing" });
  expect(world.condition("Initialized")).toBe("False ContainersNotInitialized");
  expect(world.container("a")?.ready).toBe(false);
  world.process("a").exit(0);
  await world.run(1);
  expect(world.container("a")?.ready).toBe(true);
  expect(names(world)).toEqual(["a", "b"]);
  world.process("b").exit(0);
  await world.run(1);
  expect(names(world)).toEqual(["a", "b", "main"]);
  expect(world.status.phase).toBe("Running");
  expect(world.condition("Initialized")).toBe("True");
});

test("a pod that is created never shows an init container with a reason of its own", async () => {
  const world = new PodWorld({ initContainers: [init("a"), init("b")], containers: [main] });
  world.sandboxProblem = "no namespaces";
  await world.run(1);
  world.sandboxProblem = undefined;
  await world.run(10);
  const waiting = world.statuses.flatMap(({ initContainerStatuses = [], containerStatuses = [] }) =>
    [...initContainerStatuses, ...containerStatuses].flatMap(({ state }) => state?.waiting?.reason ?? []),
  );
  expect(new Set(waiting)).toEqual(new Set(["PodInitializing"]));
  expect(world.container("b")?.state?.waiting?.message).toBeUndefined();
});

test("an init container that fails is repeated with back-off", async () => {
  const world = new PodWorld({ initContainers: [init("a")], containers: [main] });
  world.onStart = () => void world.clock.defer(() => world.process("a").exit(1));
  await world.run(25);
  expect(world.startsOf("a")).toEqual([0, 0, 10]);
  expect(world.status.phase).toBe("Pending");
});

test("with restartPolicy Never an init container that fails is the pod's end", async () => {
  const world = new PodWorld({
    restartPolicy: "Never",
    initContainers: [sidecar("proxy"), init("a")],
    containers: [main],
  });
  await world.run(1);
  world.process("a").exit(3);
  await world.run(1);
  expect(world.status.phase).toBe("Failed");
  expect(names(world)).toEqual(["proxy", "a"]);
  expect(world.process("proxy").signals[0]).toBe("SIGTERM");
});

test("a sidecar starts before the main containers, and they wait for its startup probe", async () => {
  const probe = { exec: { command: ["up"] }, periodSeconds: 1, failureThreshold: 100 };
  const world = new PodWorld({ initContainers: [sidecar("proxy", probe)], containers: [main] });
  world.onExec = () => (world.seconds >= 5 ? 0 : 1);
  await world.run(4);
  expect(names(world)).toEqual(["proxy"]);
  await world.run(3);
  expect(names(world)).toEqual(["proxy", "main"]);
  expect(world.condition("Initialized")).toBe("True");
});

test("a sidecar that ends starts again and does not disturb the main container", async () => {
  const world = new PodWorld({ restartPolicy: "Never", initContainers: [sidecar("proxy")], containers: [main] });
  await world.run(1);
  world.process("proxy").exit(0);
  await world.run(1);
  expect(names(world)).toEqual(["proxy", "main", "proxy"]);
  expect(world.status.phase).toBe("Running");
});

test("sidecars end after the main containers, the last one first, and do not count for the phase", async () => {
  const world = new PodWorld({
    restartPolicy: "Never",
    initContainers: [sidecar("one"), sidecar("two")],
    containers: [main],
  });
  const order: string[] = [];
  await world.run(1);
  for (const { name, exited } of world.starts) void exited.then(() => order.push(name));
  world.process("main").exit(0);
  await world.run(1);
  expect(order).toEqual(["main", "two", "one"]);
  expect(world.status.phase).toBe("Succeeded");
});
