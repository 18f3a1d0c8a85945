import { conditions, controller, defineKind, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { conditionOf, simulate } from "./index.ts";

const Box = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ size: z.enum(["small", "large"]), label: z.string().max(5).optional() }),
  rules: [{ rule: "self.spec.size == oldSelf.spec.size", message: "a box keeps its size" }],
});
const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ label: z.string().optional() }),
  status: z.object({ conditions: conditions().optional() }),
});

/** What an object says of a child that its schema refuses, and whose kind has rules. */
async function saidOf(label?: string): Promise<string | undefined> {
  const candies = controller(Candy, {
    owns: [Box],
    async reconcile(_candy, { apply }) {
      const box = Box({ name: "box", spec: { size: "small" } });
      await apply({ ...box, spec: { size: "huge", ...(label === undefined ? {} : { label }) } } as never);
    },
  });
  await using world = await simulate({
    seed: 1,
    operators: [defineOperator({ name: "candy", controllers: [candies] })],
  });
  await world.apply(Candy({ name: "lolly", spec: {} }));
  await world.run(60_000);
  return conditionOf(await world.get(Candy, "lolly"), "Stalled")?.message;
}

test("a refusal names the errors of an object, and no rule that was not checked because of them", async () => {
  const size = 'spec.size: Unsupported value: "huge": supported values: "small", "large"';
  expect(await saidOf()).toBe(`Box.examples.setpoint.dev "box" is invalid: ${size}`);
  expect(await saidOf("too long")).toBe(
    `Box.examples.setpoint.dev "box" is invalid: [${size}, spec.label: Too long: may not be more than 5 bytes]`,
  );
});
