import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { anyOf, changed, controller, labelsChanged } from "@setpoint/runtime";
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
