/** The status is typed by the kind in all three forms of a controller. */
import { controller, createKind, defineKind, rest, type KubeObject, type ObjectOf, type Stored } from "setpoint";
import { expectTypeOf } from "vitest";
import { z } from "zod";

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ wrapped: z.boolean() }),
});

controller(Candy, { reconcile: async (_candy, { status }) => status({ wrapped: true }) });
controller(Candy, { desired: () => ({ children: [], status: { wrapped: true } }) });

controller(Candy, {
  async reconcile(_candy, { status }) {
    // @ts-expect-error: the status has no such field
    await status({ wrapped: true, colour: "red" });
    // @ts-expect-error: a boolean is expected
    await status({ wrapped: "yes" });
  },
});

// @ts-expect-error: a boolean is expected
controller(Candy, { desired: () => ({ children: [], status: { wrapped: "yes" } }) });

controller(Candy, {
  observe: () => 1,
  plan: () => rest(),
  actions: {},
  status: () => ({ wrapped: true }),
});

// @ts-expect-error: a boolean is expected
controller(Candy, { observe: () => 1, plan: () => rest(), actions: {}, status: () => ({ wrapped: "yes" }) });

interface Box extends KubeObject {
  readonly spec: { readonly size: number };
}
const Box = createKind<Box>({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
// A kind whose type says nothing of a status takes any.
controller(Box, { reconcile: async (_box, { status }) => status({ anything: 1 }) });

declare const stored: Stored<ObjectOf<typeof Box>>;
expectTypeOf(stored.metadata.name).toEqualTypeOf<string>();
expectTypeOf(stored.metadata.uid).toEqualTypeOf<string>();
expectTypeOf(stored.metadata.resourceVersion).toEqualTypeOf<string>();
