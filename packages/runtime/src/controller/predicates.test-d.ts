import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { anyOf, changed, controller, labelsChanged, onChange, timer } from "@setpoint/runtime";
import { expectTypeOf } from "vitest";
import type { ValueAt } from "./field-path.ts";

interface Box extends KubeObject {
  readonly spec: { readonly size: number; readonly door?: { readonly color: string } };
}
const Box = createKind<Box>({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });

expectTypeOf<ValueAt<Box, "spec.size">>().toEqualTypeOf<number>();
expectTypeOf<ValueAt<Box, "spec.door.color">>().toEqualTypeOf<string | undefined>();

controller(Box, { predicate: changed("spec.size", "spec.door.color"), reconcile: async () => {} });
controller(Box, { predicate: anyOf(changed("spec.size"), labelsChanged()), reconcile: async () => {} });
// @ts-expect-error a misspelt field
controller(Box, { predicate: changed("spec.sise"), reconcile: async () => {} });

controller(Box, {
  fields: [
    onChange("spec.size", async ({ old, new: size }, object) => {
      expectTypeOf(old).toEqualTypeOf<number | undefined>();
      expectTypeOf(size).toEqualTypeOf<number>();
      expectTypeOf(object.spec.size).toEqualTypeOf<number>();
    }),
  ],
  daemons: {
    probe: timer(1_000, async (object, { current }) => {
      expectTypeOf(object.spec.size).toEqualTypeOf<number>();
      expectTypeOf(current().spec.size).toEqualTypeOf<number>();
    }),
  },
  reconcile: async () => {},
});
controller(Box, {
  owns: {},
  fields: [
    onChange("spec.door.color", async ({ new: color }) => void expectTypeOf(color).toEqualTypeOf<string | undefined>()),
  ],
  desired: () => ({ children: [] }),
});
// @ts-expect-error a misspelt field
controller(Box, { fields: [onChange("spec.sise", async () => {})], reconcile: async () => {} });
