/** 24 2.4: the context of a reconcile has at most 20 members; what is rare is in a group. */
import { controller, defineKind, type ReconcileContext } from "setpoint";
import { expectTypeOf } from "vitest";
import { z } from "zod";

const Candy = defineKind({ group: "example.com", version: "v1", kind: "Candy", spec: z.object({}) });

// Twenty places: another name needs a reason, and a group.
expectTypeOf<keyof ReconcileContext>().toEqualTypeOf<
  | ("get" | "list" | "fresh")
  | ("apply" | "create" | "patch" | "delete" | "children")
  | ("status" | "condition" | "event")
  | ("effect" | "step" | "awaitChange" | "requeueAfter")
  | ("signal" | "log" | "client" | "host" | "controller")
>();
expectTypeOf<keyof ReconcileContext["children"]>().toEqualTypeOf<"list" | "apply" | "prune">();
expectTypeOf<keyof ReconcileContext["host"]>().toEqualTypeOf<"clock" | "random" | "sleep">();
expectTypeOf<keyof ReconcileContext["controller"]>().toEqualTypeOf<
  "fieldManager" | "cluster" | "outdated" | "changesOutside" | "cannotReach"
>();

controller(Candy, {
  async reconcile(candy, context) {
    // @ts-expect-error: the clock is in the group `host`
    void context.clock;
    const { children, host } = context;
    // The functions of a group need no `this` either.
    const { list } = children;
    expectTypeOf(list(Candy)).toEqualTypeOf<readonly (typeof candy)[]>();
    expectTypeOf(host.clock.now()).toEqualTypeOf<number>();
    const { sleep } = host;
    expectTypeOf(sleep(5)).toEqualTypeOf<Promise<void>>();
  },
});
