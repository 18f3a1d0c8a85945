import { expect, test } from "vitest";
import { main, PodWorld } from "../workers/pod-world.fixture.ts";

const probe = (name: string, more: object = {}) => ({ exec: { command: [name] }, periodSeconds: 10, ...more });
/** Commands that fail from one second (of virtual time) up to another. */
const failing = (world: PodWorld, command: string, from: number, to: number): void => {
  world.onExec = ([name]) => (name === command && world.seconds >= from && world.seconds < to ? 1 : 0);
};

test("a container without readiness probe is ready when it runs, one with is not before its probe succeeds", async () => {
  const world = new PodWorld({ containers: [{ ...main, readinessProbe: probe("ready", { initialDelaySeconds: 5 }) }] });
  await world.run(4);
  expect(world.container("main")?.ready).toBe(false);
  await world.run(2);
  expect(world.container("main")?.ready).toBe(true);
});

test("readiness goes after three failures and comes back with one success", async () => {
  const world = new PodWorld({ containers: [{ ...main, readinessProbe: probe("ready") }] });
  failing(world, "ready", 15, 45);
  await world.run(35);
  expect(world.condition("Ready")).toBe("True");
  await world.run(6);
  expect(world.condition("Ready")).toBe("False ContainersNotReady");
  expect(world.events).toContain("main Unhealthy: Readiness probe failed: command ended with exit code 1");
  await world.run(10);
  expect(world.condition("Ready")).toBe("True");
  expect(world.starts.length).toBe(1);
});

test("successThreshold asks for successes in a row", async () => {
  const readinessProbe = probe("ready", { successThreshold: 3 });
  const world = new PodWorld({ containers: [{ ...main, readinessProbe }] });
  await world.run(15);
  expect(world.container("main")?.ready).toBe(false);
  await world.run(10);
  expect(world.container("main")?.ready).toBe(true);
});

test("liveness restarts the container after failureThreshold failures", async () => {
  const livenessProbe = probe("alive", { failureThreshold: 2, terminationGracePeriodSeconds: 3 });
  const world = new PodWorld({ containers: [{ ...main, livenessProbe }] });
  world.isStubborn = true;
  failing(world, "alive", 5, 25);
  await world.run(19);
  expect(world.starts.length).toBe(1);
  await world.run(6);
  expect(world.startsOf("main")).toEqual([0, 23]);
  expect(world.events).toContain("main Killing: Container main failed liveness probe, will be restarted");
});

test("with restartPolicy Never a failed liveness probe is the pod's end", async () => {
  const livenessProbe = probe("alive", { failureThreshold: 1 });
  const world = new PodWorld({ restartPolicy: "Never", containers: [{ ...main, livenessProbe }] });
  world.onExec = () => 1;
  await world.run(5);
  expect(world.status.phase).toBe("Failed");
});

test("the startup probe holds the others back", async () => {
  const container = {
    ...main,
    startupProbe: probe("started", { failureThreshold: 10, periodSeconds: 5 }),
    livenessProbe: probe("alive"),
    readinessProbe: probe("ready"),
  };
  const world = new PodWorld({ containers: [container] });
  failing(world, "started", 0, 12);
  await world.run(14);
  expect(new Set(world.commands)).toEqual(new Set(["started"]));
  expect(world.container("main")).toMatchObject({ started: false, ready: false });
  await world.run(2);
  expect(world.container("main")).toMatchObject({ started: true, ready: true });
  const startups = world.commands.filter((name) => name === "started").length;
  await world.run(60);
  expect(world.commands.filter((name) => name === "started").length).toBe(startups);
});

test("a startup probe that never succeeds restarts the container", async () => {
  const startupProbe = probe("started", { failureThreshold: 2, periodSeconds: 5 });
  const world = new PodWorld({ containers: [{ ...main, startupProbe }] });
  world.onExec = () => 1;
  await world.run(6);
  expect(world.startsOf("main")).toEqual([0, 5]);
});

test("a probe that hangs fails after its timeout", async () => {
  const readinessProbe = probe("ready", { timeoutSeconds: 2, failureThreshold: 1 });
  const world = new PodWorld({ containers: [{ ...main, readinessProbe }] });
  world.onExec = () => undefined;
  await world.run(3);
  expect(world.events).toContain("main Unhealthy: Readiness probe failed: timed out after 2s");
});

test("readiness gates hold Ready back until their conditions are set", async () => {
  const world = new PodWorld({ readinessGates: [{ conditionType: "example.com/in" }], containers: [main] });
  await world.run(1);
  expect(world.condition("ContainersReady")).toBe("True");
  expect(world.condition("Ready")).toBe("False ReadinessGatesNotReady");
});
