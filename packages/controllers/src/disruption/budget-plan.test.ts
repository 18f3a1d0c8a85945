import { Pod, PodDisruptionBudget } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { planBudget, type SeenBudget } from "./budget-plan.ts";

const nowMs = Date.parse("2026-01-01T00:10:00Z");

type Spec = PodDisruptionBudget["spec"];

/** Pods in short: `r` ready, `u` unready, `t` terminating, `e` ready and evicted, `k` evicted long ago. */
function seen(spec: Spec, pods: string, count = 0): SeenBudget {
  const named = Array.from(pods, (state, i) => ({ state, name: `web-${i}` }));
  const since = (name: string, at: string) => [name, at] as const;
  const disruptedPods = Object.fromEntries(
    named.flatMap(({ state, name }) =>
      state === "e"
        ? [since(name, "2026-01-01T00:09:00Z")]
        : "kt".includes(state)
          ? [since(name, "2026-01-01T00:07:00Z")]
          : [],
    ),
  );
  return {
    budget: {
      ...PodDisruptionBudget({ name: "web", spec }),
      status: { disruptedPods: { ...disruptedPods, gone: "2026-01-01T00:09:00Z" } },
    } as Stored<PodDisruptionBudget>,
    pods: named.map(({ state, name }) => pod(state, name)),
    expected: { count, unmanaged: [] },
    nowMs,
  };
}

function pod(state: string, name: string): Stored<Pod> {
  const { metadata, ...rest } = Pod({ name, spec: { containers: [] } });
  const deletion = state === "t" ? { deletionTimestamp: "2026-01-01T00:09:30Z" } : {};
  const conditions = [{ type: "Ready", status: state === "u" ? "False" : "True" }];
  return { ...rest, metadata: { ...metadata, ...deletion }, status: { phase: "Running", conditions } } as Stored<Pod>;
}

test.each<[string, SeenBudget, string]>([
  ["no pods yet", seen({ minAvailable: 1 }, ""), "0/1 of 0, allows 0"],
  ["as many as it asks for", seen({ minAvailable: 2 }, "rr"), "2/2 of 2, allows 0"],
  ["one to spare", seen({ minAvailable: 2 }, "rrr"), "3/2 of 3, allows 1"],
  ["an unready one is not to spare", seen({ minAvailable: 2 }, "rru"), "2/2 of 3, allows 0"],
  ["a terminating one does not count", seen({ minAvailable: 2 }, "rrt"), "2/2 of 3, allows 0"],
  ["an evicted one does not count", seen({ minAvailable: 1 }, "rre"), "2/1 of 3, allows 1 [web-2]"],
  ["an evicted one that was kept counts", seen({ minAvailable: 2 }, "rrk"), "3/2 of 3, allows 1"],
  ["a percentage rounds up", seen({ minAvailable: "50%" }, "rrr", 3), "3/2 of 3, allows 1"],
  ["all of them", seen({ minAvailable: "100%" }, "rrr", 3), "3/3 of 3, allows 0"],
  ["of those that are to come", seen({ minAvailable: "50%" }, "rrr", 8), "3/4 of 8, allows 0"],
  ["at most one away", seen({ maxUnavailable: 1 }, "rrr", 3), "3/2 of 3, allows 1"],
  ["at most one away, and one is", seen({ maxUnavailable: 1 }, "rru", 3), "2/2 of 3, allows 0"],
  ["none away", seen({ maxUnavailable: 0 }, "rrr", 3), "3/3 of 3, allows 0"],
  ["a percentage away rounds up", seen({ maxUnavailable: "30%" }, "rrrr", 4), "4/2 of 4, allows 2"],
  ["more away than there are", seen({ maxUnavailable: 5 }, "rrr", 3), "3/0 of 3, allows 3"],
  ["pods without controllers", seen({ maxUnavailable: 1 }, "rr", 0), "2/0 of 0, allows 0"],
  ["neither minimum nor maximum", seen({}, "rr"), "2/0 of 0, allows 0"],
])("%s", (_, view, wanted) => {
  const { status } = planBudget(view);
  const evicted = Object.keys(status.disruptedPods);
  const text = `${status.currentHealthy}/${status.desiredHealthy} of ${status.expectedPods}, allows ${status.disruptionsAllowed}`;
  expect(evicted.length === 0 ? text : `${text} [${evicted.join(" ")}]`).toBe(wanted);
});

test("a budget waits two minutes for the deletion of an evicted pod, and then reports it", () => {
  expect(planBudget(seen({ minAvailable: 1 }, "rre")).recheckMs).toBe(60_001);
  const { kept, recheckMs } = planBudget(seen({ minAvailable: 1 }, "rrk"));
  expect([kept.map(({ metadata }) => metadata.name), recheckMs]).toEqual([["web-2"], undefined]);
});
