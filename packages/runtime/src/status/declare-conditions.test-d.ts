import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { controller, declareConditions } from "@setpoint/runtime";

interface Box extends KubeObject {
  readonly spec: { readonly size: number };
}
const Box = createKind<Box>({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });

const health = declareConditions({
  Available: { polarity: "positive", reasons: { Up: "True", Down: "False" }, stalls: ["Down"] },
  Degraded: { polarity: "negative", reasons: { Slow: "True", Fast: "False" } },
});

controller(Box, {
  health,
  reconcile: async (box, { condition }) =>
    condition(...health.of({ Available: box.spec.size > 1 ? ["Up", ""] : ["Down", "small"], Degraded: ["Fast", ""] })),
});

health.one("Available", "Up", "all members");

// @ts-expect-error: a condition was forgotten
health.of({ Available: ["Up", ""] });

// @ts-expect-error: a reason of another condition
health.of({ Available: ["Slow", ""], Degraded: ["Fast", ""] });

// @ts-expect-error: a condition that was not declared
health.of({ Available: ["Up", ""], Degraded: ["Fast", ""], Shiny: ["Very", ""] });

// @ts-expect-error: no reason without a sentence
health.one("Available", "Up");

// @ts-expect-error: a status that conditions do not have
declareConditions({ Available: { polarity: "positive", reasons: { Up: "Yes" } } });

controller(Box, {
  ledger: true,
  async reconcile(_box, { effect, step, requeueAfter }) {
    const order: { id: string } = await effect("order", { find: async () => undefined, do: async () => ({ id: "a" }) });
    const moved: number = await step("move", async () => (order.id === "" ? requeueAfter(1, "why") : 7));
    await step("verify", async () => {});
    // @ts-expect-error: a result that JSON would not bring back
    await step("when", async () => new Map<string, number>([["a", moved]]));
    // @ts-expect-error: nothing would tell a second try what the first has done
    await effect("pay", { do: async () => moved });
  },
});
