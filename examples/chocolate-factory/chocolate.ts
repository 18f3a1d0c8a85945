/** The kind Chocolate: one bar of a desired sweetness. `kubectl get choc` lists them. */
import { age, conditions, defineKind } from "setpoint";
import { webhooks } from "setpoint/webhooks";
import { z } from "zod";
import { measurementNoise } from "./factory.ts";

/** The first version had three tastes; the second has a number for each. */
const tastes = { mild: 20, normal: 50, sweet: 80 } as const;
type Taste = keyof typeof tastes;

/** How many measurements an object keeps for the quality controller. */
export const measuredMax = 10;

export const Chocolate = defineKind({
  group: "factory.setpoint.dev",
  version: "v1",
  kind: "Chocolate",
  shortNames: ["choc"],
  spec: z.object({
    sweetness: z.int().min(0).max(100),
    tolerance: z.int().min(1).max(50).default(5),
  }),
  status: z.object({
    bar: z.string().optional(),
    machine: z.int().optional(),
    sweetness: z.number().optional(),
    disposed: z.int(),
    measured: z.array(z.object({ bar: z.string(), machine: z.int(), error: z.number() })).max(measuredMax),
    conditions: conditions().optional(),
  }),
  versions: {
    v1beta1: {
      spec: z.object({ taste: z.enum(["mild", "normal", "sweet"]) }),
      up: ({ taste }) => ({ sweetness: tastes[taste] }),
      down: ({ sweetness }) => ({ taste: nearestTaste(sweetness) }),
      deprecated: "factory.setpoint.dev/v1beta1 Chocolate is deprecated; use v1 and a number for the sweetness",
    },
  },
  printerColumns: { Desired: "spec.sweetness", Sweetness: "status.sweetness", Disposed: "status.disposed", Age: age() },
});

function nearestTaste(sweetness: number): Taste {
  if (sweetness < 35) return "mild";
  return sweetness < 65 ? "normal" : "sweet";
}

/** Refuses what no machine can do, before it is stored. */
export const chocolateWebhooks = webhooks(Chocolate, {
  validate({ spec }, { invalid, warn }) {
    if (spec.tolerance < measurementNoise)
      invalid("spec.tolerance", `must be at least ${measurementNoise}, because the factory cannot measure better`);
    if (spec.sweetness > 90) warn("more than 90 is hardly chocolate");
  },
});
