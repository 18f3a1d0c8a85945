import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { act, controller, rest, type Step } from "@setpoint/runtime";
import { expectTypeOf } from "vitest";

interface Box extends KubeObject {
  readonly spec: { readonly size: number };
}
interface Secret extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}
const Box = createKind<Box>({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const Secret = createKind<Secret>({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });

interface Actions {
  readonly grow: { readonly by: number };
  readonly shrink: Record<never, never>;
}

interface Seen {
  readonly size: number;
}

function plan(seen: Seen, nowMs: number): Step<Actions> {
  return seen.size > nowMs ? rest() : act("grow", { by: 1 }, "too small");
}

controller(Box, {
  owns: [Secret],
  observe: (box) => ({ size: box.spec.size }),
  plan,
  actions: {
    grow: async ({ by }, context, seen) => {
      expectTypeOf(by).toEqualTypeOf<number>();
      expectTypeOf(seen).toEqualTypeOf<Seen>();
      await context.create(Secret({ name: "a", data: {} }));
    },
    shrink: async () => {},
  },
  status: (seen, step) => ({ size: seen.size, step: step.kind }),
});

controller(Box, {
  owns: { secrets: Secret },
  desired: (box, { secrets }) => {
    expectTypeOf(box.metadata.name).toEqualTypeOf<string>();
    return { children: [Secret({ name: "a", data: secrets[0]?.data ?? {} })] };
  },
});

controller(Box, {
  owns: [Secret],
  async reconcile(box, { get, requeueAfter }) {
    const secret = get(Secret, box.metadata.name);
    expectTypeOf(secret?.data).toEqualTypeOf<Readonly<Record<string, string>> | undefined>();
    return requeueAfter(1, "why");
  },
  async cleanup(box) {
    expectTypeOf(box.spec.size).toEqualTypeOf<number>();
  },
});

// A part of a kind, by label.
controller(Box, {
  owns: { secrets: { kind: Secret, labelSelector: "app=box" } },
  desired: (_box, { secrets }) => {
    expectTypeOf(secrets[0]?.data).toEqualTypeOf<Readonly<Record<string, string>> | undefined>();
    return { children: [] };
  },
});
controller(Box, { owns: [{ kind: Secret, labelSelector: "app=box" }, Box], reconcile: async () => {} });

// @ts-expect-error: a part of a kind needs its selector
controller(Box, { owns: [{ kind: Secret }], reconcile: async () => {} });

// @ts-expect-error: the plan names an action that nobody performs
controller(Box, { observe: () => ({ size: 1 }), plan, actions: { grow: async () => {} } });

// @ts-expect-error: a field that the kind does not have
controller(Box, { reconcile: async (box) => void box.spec.colour });
