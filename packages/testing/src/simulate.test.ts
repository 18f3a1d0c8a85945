import { ConfigMap, Deployment, Pod } from "@setpoint/api";
import { controller, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { candyOperator, Candy } from "./candy-operator.fixture.ts";
import { conditionOf, simulate } from "./index.ts";

async function wrappersAfter(seed: number): Promise<{ readonly names: readonly string[]; readonly hash: string }> {
  await using world = await simulate({ seed, operators: [candyOperator] });
  await world.apply(Candy({ name: "lolly", spec: { flavors: ["mint", "lime"] } }));
  await world.settled();
  const maps = await world.list(ConfigMap);
  return {
    names: maps.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("lolly")),
    hash: world.traceHash(),
  };
}

test("a world has the same history for the same seed, and another for another", async () => {
  const first = await wrappersAfter(1);
  const other = await wrappersAfter(2);
  expect(first.names).toEqual(["lolly-lime", "lolly-mint"]);
  expect((await wrappersAfter(1)).hash).toBe(first.hash);
  expect(other.names).toEqual(first.names);
  expect(other.hash).not.toBe(first.hash);
});

test("a crash at any write and a lost answer leave the same end", async () => {
  for (const write of [1, 2, 3])
    for (const strike of ["before", "after", "lose"] as const) {
      await using world = await simulate({ seed: write, operators: [candyOperator] });
      if (strike === "lose") world.loseAnswerOf(write);
      else world.crashOperatorAt(write, strike);
      await world.apply(Candy({ name: "lolly", spec: { flavors: ["mint", "lime"] } }));
      await world.settled();
      expect((await world.get(Candy, "lolly")).status).toEqual({ wrappers: 2 });
    }
});

test("a process that died neither writes nor looks any more", async () => {
  await using world = await simulate({ seed: 1, operators: [candyOperator] });
  world.stopOperator();
  const before = world.trace.filter((line) => line.includes("candy"));
  await world.apply(Candy({ name: "lolly", spec: { flavors: ["mint"] } }));
  await world.run(3_600_000);
  expect(world.trace.filter((line) => / s {2}candy /.test(line))).toEqual(
    before.filter((line) => / s {2}candy /.test(line)),
  );
  await world.restartOperator();
  await world.settled();
  expect((await world.get(Candy, "lolly")).status).toEqual({ wrappers: 1 });
});

test("an operator that writes at rest is not quiet", async () => {
  const restless = defineOperator({
    name: "restless",
    controllers: [
      controller(Candy, {
        owns: [ConfigMap],
        async reconcile({ metadata }, { apply, host: { clock }, requeueAfter }) {
          await apply(ConfigMap({ name: `${metadata.name}-time`, data: { now: String(clock.now()) } }));
          return requeueAfter(60_000, "the time has changed");
        },
      }),
    ],
  });
  await using world = await simulate({ seed: 1, operators: [restless] });
  await world.apply(Candy({ name: "lolly", spec: { flavors: [] } }));
  await world.settled();
  await expect(world.expectQuiet()).rejects.toThrow(
    /Not quiet: \d+ requests in 1 hours at rest\n.* restless +PATCH default\/configmaps\/lolly-time → 200/,
  );
});

test("a world that does not settle says what it waits for", async () => {
  const waiting = defineOperator({
    name: "waiting",
    controllers: [
      controller(Candy, {
        observe: (candy) => candy,
        plan: () => ({ kind: "wait", delayMs: 1_000, reason: "there is no sugar" }),
        actions: {},
        status: () => ({ wrappers: 0 }),
      }),
    ],
  });
  await using world = await simulate({ seed: 1, operators: [waiting] });
  await world.apply(Candy({ name: "lolly", spec: { flavors: [] } }));
  await expect(world.settled({ within: 30_000 })).rejects.toThrow(
    'Not settled after 30 s of virtual time: Candy "lolly" is progressing (Waiting): there is no sugar',
  );
});

test("an operator may do only what its own role allows", async () => {
  const nosy = defineOperator({
    name: "nosy",
    controllers: [
      controller(Candy, {
        async reconcile(_candy, { client, condition }) {
          await client
            .listAll(Pod)
            .catch((error: Error) =>
              condition({ type: "Allowed", status: "False", reason: "No", message: error.message }),
            );
        },
      }),
    ],
  });
  await using world = await simulate({ seed: 1, operators: [nosy] });
  await world.apply(Candy({ name: "lolly", spec: { flavors: [] } }));
  await world.settled();
  expect(conditionOf(await world.get(Candy, "lolly"), "Allowed")?.message).toContain('cannot list resource "pods"');
});

test("in an observed world only operators that may read Events get the scheduler's", async () => {
  const isBinding = (line: string): boolean => /controllers POST default\/pods\/web\/binding/.test(line);
  const isEvent = (line: string): boolean => /controllers POST default\/events\/web/.test(line);
  const traceFor = async (verbs: readonly string[], controllers: "all" | "observed"): Promise<readonly string[]> => {
    const permissions = [
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
      { apiGroups: [""], resources: ["events"], verbs },
    ];
    const reader = defineOperator({
      name: "reader",
      controllers: [controller(Candy, { reconcile: () => Promise.resolve() })],
      permissions,
    });
    await using world = await simulate({ seed: 1, controllers, operators: [reader] });
    await world.apply(Pod({ name: "web", spec: { containers: [{ name: "web", image: "web:1" }] } }));
    await world.settled();
    return world.trace;
  };
  for (const trace of [await traceFor(["list"], "observed"), await traceFor(["delete"], "all")])
    expect([trace.filter(isBinding).length, trace.filter(isEvent).length]).toEqual([1, 1]);
  const unseen = await traceFor(["delete"], "observed");
  expect([unseen.filter(isBinding).length, unseen.filter(isEvent).length]).toEqual([1, 0]);
});

test("pods of built-in workloads run on the nodes, and come back when they die", async () => {
  await using world = await simulate({ seed: 1 });
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  await world.apply(Deployment({ name: "web", spec: { replicas: 2, selector: { matchLabels: labels }, template } }));
  await world.settled();
  const isReady = async (): Promise<boolean> => (await world.get(Deployment, "web")).status?.readyReplicas === 2;
  expect(await isReady()).toBe(true);
  const [pod] = await world.list(Pod);
  world.kill(pod?.metadata.name ?? "");
  await world.run(1_000);
  expect(await isReady()).toBe(false);
  await world.until("both are ready again", isReady);
  await world.delete(Deployment, "web");
  await world.settled();
  expect(await world.list(Pod)).toEqual([]);
});

test("time ends with its world, also for a caller that advances it at that moment", async () => {
  const world = await simulate({ seed: 1 });
  const startMs = world.host.clock.monotonic();
  const running = world.run(600_000);
  await world[Symbol.asyncDispose]();
  await running;
  expect(world.host.clock.monotonic()).toBeLessThan(startMs + 600_000);
  await expect(world.run(1)).rejects.toThrow("Cannot let time pass in a world that has ended");
  await expect(world.list(Pod)).rejects.toThrow("Cannot let time pass in a world that has ended");
});
