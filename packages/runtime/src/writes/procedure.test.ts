import { controller, requeueAfter } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, refusal, said } from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

test("a run comes back to a step that waits, also when the author's code has kept its error", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let looks = 0;
  const cooling = controller(Candy, {
    ledger: true,
    async reconcile(_candy, { step, condition }) {
      try {
        await step("cool", async () => (++looks < 3 ? requeueAfter(60_000, "it is still hot") : undefined));
      } catch {
        condition({ type: "Cold", status: "False", reason: "Failed", message: "" });
      }
    },
  });
  const manager = world.start([cooling]);
  await world.run(1_000);
  expect(await manager.why({ kind: "Candy", name: "lolly" })).toMatchObject({
    state: "delayed",
    until: "2026-01-01T00:01:00.000Z",
    runs: [{ reason: "it is still hot" }],
  });
  await world.run(120_000);
  expect(looks).toBe(3);
  expect(said(await world.candy(), "StepsDone")).toBe("True AllDone: Done: cool");
});

test("a cleanup with a step that waits has not finished, also when the author's code has kept its error", async () => {
  await using world = createControllerWorld();
  let isEmpty = false;
  const emptying = controller(Candy, {
    ledger: true,
    reconcile: async () => {},
    async cleanup(_candy, { step }) {
      await step("empty", async () => (isEmpty ? undefined : requeueAfter(1_000, "it is not empty"))).catch(() => {});
    },
  });
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([emptying]);
  await world.settle(manager);
  await world.client.delete(Candy, key);
  await world.run(10_000);
  expect((await world.client.listAll(Candy)).items.length).toBe(1);
  isEmpty = true;
  await world.run(10_000);
  expect((await world.client.listAll(Candy)).items.length).toBe(0);
});

test("a status that the server refuses keeps no step from being done, and fails the run", async () => {
  await using world = createControllerWorld();
  const done: string[] = [];
  const cooking = controller(Candy, {
    ledger: true,
    async reconcile(_candy, { step }) {
      await step("cook", async () => void done.push("cook"));
      await step("cool", async () => void done.push("cool"));
    },
  });
  world.refuse = ({ path }) => (path.endsWith("/status") ? refusal(422, "Invalid", "a rule is against it") : undefined);
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([cooking]);
  await world.run(10_000);
  expect(done).toEqual(["cook", "cool"]);
  const report = await manager.why({ kind: "Candy", name: "lolly" });
  expect(report?.runs[0]).toMatchObject({ result: "error", reason: "a rule is against it" });
});
