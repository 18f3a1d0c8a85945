import { conditions, controller, declareConditions, defineKind, defineOperator, type Operator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { reconcilerLaws } from "./index.ts";

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ conditions: conditions().optional() }),
});
const soap = Candy({ name: "lolly", spec: { flavor: "soap" } });

function operatorWith(stalls: readonly "NoSuchFlavor"[]): Operator {
  const reasons = { Known: "True", NoSuchFlavor: "False" } as const;
  const health = declareConditions({ Flavored: { polarity: "positive", reasons, stalls } });
  const candies = controller(Candy, {
    health,
    reconcile: async (_candy, { condition }) =>
      condition(...health.of({ Flavored: ["NoSuchFlavor", "soap is no flavor"] })),
  });
  return defineOperator({ name: "candy", controllers: [candies] });
}

test("the laws name the option that says that a condition waits for a person", async () => {
  const options = { worlds: [soap], seconds: 5, faults: [] };
  await expect(reconcilerLaws(operatorWith([]), options)).rejects.toThrow(
    'Candy "lolly" is progressing (NoSuchFlavor): soap is no flavor; if a person must act first, name "NoSuchFlavor" in `stalls` of its condition in declareConditions',
  );
  await reconcilerLaws(operatorWith(["NoSuchFlavor"]), options);
});
