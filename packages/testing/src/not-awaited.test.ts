/** 24 2.7: an un-awaited refused write must not kill the process without a word. */
import { ConfigMap } from "@setpoint/api";
import type { ReconcileContext } from "@setpoint/runtime";
import { controller, defineKind, defineOperator, type ObjectOf, type Operator } from "setpoint";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { reconcilerLaws, simulate } from "./index.ts";

const Candy = defineKind({ group: "example.com", version: "v1", kind: "Candy", spec: z.object({}) });
const lolly = Candy({ name: "lolly", spec: {} });
const refused = ConfigMap({ name: "with a space", data: {} });

type Reconcile = (candy: ObjectOf<typeof Candy>, context: ReconcileContext) => Promise<void>;

function operatorOf(reconcile: Reconcile): Operator {
  return defineOperator({ name: "candy", controllers: [controller(Candy, { owns: [ConfigMap], reconcile })] });
}

async function settle(reconcile: Reconcile): Promise<Error | undefined> {
  await using world = await simulate({ seed: 1, operators: [operatorOf(reconcile)] });
  await world.apply(lolly);
  try {
    await world.settled();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

const turns: Reconcile = async (_candy, { fresh }) => void (await fresh(ConfigMap, "other"));

describe("an un-awaited refused write must not kill the process without a word: it fails the test", () => {
  const forms: Readonly<Record<string, Reconcile>> = {
    "an apply": async (_candy, { apply }) => void apply(refused),
    "a create": async (_candy, { create }) => void create(refused),
    "a write that is refused before it is sent": async (_candy, { apply }) =>
      void apply({ ...refused, kind: "Unknown" }),
    "a write that is refused while the reconcile goes on": async (candy, context) => {
      void context.apply(refused);
      await turns(candy, context);
      await turns(candy, context);
    },
    "a write in a function that is not awaited": async (_candy, { apply }) => {
      const write = async (): Promise<void> => void (await apply(refused));
      void write();
    },
    "a write after the reconcile has ended": async (candy, context) => {
      const later = async (): Promise<void> => {
        await turns(candy, context);
        await turns(candy, context);
        await context.apply(refused);
      };
      void later();
    },
  };

  test.each(Object.entries(forms))("%s", async (_form, reconcile) => {
    const failure = await settle(reconcile);
    expect(failure?.message).toContain(`of Candy "default/lolly" by controller "candy" still fails at rest`);
    expect(failure?.message).toMatch(/Cannot ignore the failure of (apply|create)\(\) of \w+ "with a space" \(at .*/);
    expect(failure?.message).toMatch(/\(at .*not-awaited\.test\.ts:\d+:\d+\)+: .*; await the call/);
  });

  test("the children as a set, whose call is named with its group", async () => {
    const failure = await settle(async (_candy, { children }) => void children.apply([refused]));
    expect(failure?.message).toMatch(
      /Cannot ignore the failure of children\.apply\(\) \(at .*not-awaited\.test\.ts:\d+/,
    );
  });

  test("and the laws", async () => {
    const operator = operatorOf(async (_candy, { apply }) => void apply(refused));
    const laws = reconcilerLaws(operator, {
      ...{ seed: 1, withinMs: 60_000, quietMs: 60_000, faults: [] },
      worlds: [lolly],
    });
    await expect(laws).rejects.toThrow(/Cannot ignore the failure of apply\(\).*not-awaited\.test\.ts:\d+/);
  });
});

describe("a write whose failure is handled is none", () => {
  const forms: Readonly<Record<string, Reconcile>> = {
    "by a catch": async (_candy, { apply }) => void apply(refused).catch(() => {}),
    "after another call": async (candy, context) => {
      const write = context.apply(refused);
      await turns(candy, context);
      await turns(candy, context);
      await write.catch(() => {});
    },
    "together with others": async (_candy, { apply }) => {
      await Promise.all([apply(refused), apply(refused)]).catch(() => {});
    },
  };

  test.each(Object.entries(forms))("%s", async (_form, reconcile) => {
    expect(await settle(reconcile)).toBeUndefined();
  });
});

test("a run waits for the writes that it has not awaited", async () => {
  const operator = operatorOf(async (_candy, { apply }) => void apply(ConfigMap({ name: "made", data: {} })));
  await using world = await simulate({ seed: 1, operators: [operator] });
  await world.apply(lolly);
  await world.settled();
  expect(await world.get(ConfigMap, "made")).toBeDefined();
  await world.expectQuiet();
});
