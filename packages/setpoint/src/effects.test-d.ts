/** 24 2.3: `effect` and `step` take interfaces, and refuse what is no JSON. */
import { controller, defineKind } from "setpoint";
import { expectTypeOf } from "vitest";
import { z } from "zod";

const Candy = defineKind({ group: "example.com", version: "v1", kind: "Candy", spec: z.object({}) });

interface Order {
  readonly id: string;
  readonly items: readonly { readonly name: string; readonly count?: number }[];
}
declare const order: Order;

controller(Candy, {
  async reconcile(_candy, { effect, step, requeueAfter }) {
    const find = async (): Promise<Order | undefined> => undefined;
    expectTypeOf(await effect("order", { find, do: async () => order })).toEqualTypeOf<Order>();
    await effect("order", {
      find: async (_key, { intendedSince }) => {
        expectTypeOf(intendedSince).toEqualTypeOf<string | undefined>();
        return undefined;
      },
      do: async () => order,
    });
    expectTypeOf(await step("order", async () => order)).toEqualTypeOf<Order>();
    expectTypeOf(await step("pay", async () => {})).toEqualTypeOf<void>();
    expectTypeOf(await step("count", async () => 3 as number)).toEqualTypeOf<number>();
    await step("wait", async () => requeueAfter(5, "the oven is cold"));
    // @ts-expect-error: a date is no JSON
    await step("date", async () => ({ at: new Date() }));
    // @ts-expect-error: a function is no JSON
    await step("function", async () => ({ call: () => 1 }));
  },
});
