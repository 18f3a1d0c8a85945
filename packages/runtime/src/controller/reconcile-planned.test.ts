import { act, controller, rest } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, refusal, said } from "../run/controller-world.fixture.ts";

interface Actions {
  readonly stir: Record<string, never>;
}

test("no step is done before the server has taken the status that later plans rest on, and why tells what is against it", async () => {
  await using world = createControllerWorld();
  let stirred = 0;
  const stirring = controller<Candy, number, Actions>(Candy, {
    observe: async () => stirred,
    plan: (seen) => (seen < 3 ? act("stir", {}, "it is not mixed") : rest()),
    status: (seen) => ({ wrappers: seen }),
    actions: { stir: async () => void stirred++ },
  });
  world.refuse = ({ path }) => (path.endsWith("/status") ? refusal(422, "Invalid", "a rule is against it") : undefined);
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([stirring]);
  await world.run(10_000);
  expect(stirred).toBe(0);
  const report = await manager.why({ kind: "Candy", name: "lolly" });
  expect(report?.runs[0]).toMatchObject({ result: "error", reason: "a rule is against it" });
  world.refuse = () => undefined;
  await world.run(600_000);
  expect(stirred).toBe(3);
  expect((await world.candy()).status?.wrappers).toBe(3);
  expect(said(await world.candy(), "Progressing")).toMatch(/^False DesiredStateReached/);
});

test("a plan that can do nothing says why, and not that the desired state is reached", async () => {
  await using world = createControllerWorld();
  const refusing = controller<Candy, number, Actions>(Candy, {
    observe: async () => 0,
    plan: () => rest(undefined, { reason: "RecipeRefused", message: "there is no such wrapper" }),
    actions: { stir: async () => {} },
  });
  await world.client.create(Candy, candy("mint"));
  await world.settle(world.start([refusing]));
  expect(said(await world.candy(), "Progressing")).toBe("False RecipeRefused: there is no such wrapper");
});
