/** What becomes of finalizers: struck cleanups, and operators that go for good. */
import { ConfigMap } from "@setpoint/api";
import { conditions, controller, defineKind, defineOperator, type Operator } from "setpoint";
import { planFinalizerRemoval, removeFinalizers } from "setpoint/install";
import { expect, test } from "vitest";
import { z } from "zod";
import { simulate } from "./index.ts";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ conditions: conditions().optional() }),
});

/** Deletes what does not go by itself (it has no owner), and only then lets the object go. */
function cleaning(): Operator {
  const nameOf = (candy: { readonly metadata: { readonly name?: string } }): string =>
    `${candy.metadata.name ?? ""}-shelf`;
  const candies = controller(Candy, {
    owns: [ConfigMap],
    async reconcile(candy, { apply }) {
      await apply(ConfigMap({ name: nameOf(candy), namespace: "default" }), { owner: false });
    },
    async cleanup(candy, { get, delete: remove, awaitChange, requeueAfter }) {
      const shelf = get(ConfigMap, nameOf(candy), "default");
      if (shelf === undefined) return undefined;
      await remove(shelf);
      return shelf.metadata.deletionTimestamp === undefined ? requeueAfter(1, "the shelf goes") : awaitChange();
    },
  });
  return defineOperator({ name: "candy", controllers: [candies] });
}

const lolly = Candy({ name: "lolly", spec: { flavor: "mint" } });

test("whichever write of a deletion fails, the cleanup ends before the object goes, and recreates nothing", async () => {
  for (const strike of ["before", "after", "lose"] as const)
    for (let write = 1; write <= 5; write++) {
      await using world = await simulate({ seed: write, operators: [cleaning()], watchLagMsMax: write * 100 });
      if (strike === "lose") world.loseAnswerOf(write);
      else world.crashOperatorAt(write, strike);
      await world.apply(lolly);
      await world.run(write * 20);
      await world.delete(Candy, "lolly");
      await world.settled();
      const left = (await world.list(ConfigMap)).filter(({ metadata }) => metadata.name.startsWith("lolly"));
      expect([left, await world.list(Candy)], `${strike} ${write}`).toEqual([[], []]);
    }
});

test("without its operator an object does not go; the plan says which, and removing the finalizers frees it", async () => {
  const operator = cleaning();
  await using world = await simulate({ seed: 1, operators: [operator] });
  await world.apply(lolly);
  await world.apply({ ...lolly, metadata: { name: "truffle", finalizers: ["example.com/mine"] } });
  await world.settled();
  world.stopOperator();
  await world.delete(Candy, "lolly");
  await world.run(3_600_000);
  expect((await world.list(Candy)).length).toBe(2);

  const plan = await world.wait(planFinalizerRemoval(operator, { client: world.client, clock: world.host.clock }));
  expect(plan.sentences).toEqual([
    "Candy default/lolly is being deleted and goes at once, without its cleanup",
    "Candy default/truffle stays; nobody cleans up after it when it is deleted",
  ]);
  expect(await world.wait(removeFinalizers(plan, world.client))).toBe(2);
  expect((await world.list(Candy)).map(({ metadata }) => [metadata.name, metadata.finalizers])).toEqual([
    ["truffle", ["example.com/mine"]],
  ]);
  // Once more does no harm, also not to a namesake that is another object.
  await world.apply({ ...lolly, metadata: { name: "lolly", finalizers: ["example.com/candy"] } });
  expect(await world.wait(removeFinalizers(plan, world.client))).toBe(0);
});

test("finalizers are not removed under an operator that runs", async () => {
  const operator = cleaning();
  await using world = await simulate({ seed: 1, operators: [operator], leaderElection: true });
  await world.apply(lolly);
  await world.settled();
  const plan = (): Promise<unknown> =>
    world.wait(
      planFinalizerRemoval(operator, { client: world.client, clock: world.host.clock, leaseNamespace: "operators" }),
    );
  await expect(plan()).rejects.toThrow(/^Cannot remove the finalizers of operator "candy": ".*" runs it/);
  world.stopOperator();
  await world.run(60_000);
  expect(await plan()).toMatchObject({ held: [{ name: "lolly" }] });
});
