import { Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { type PodUsage, proposeReplicas, type UsageTarget, type UsageView } from "./replica-count.ts";

const nowMs = Date.parse("2026-01-01T01:00:00Z");
const before = (seconds: number): string => new Date(nowMs - seconds * 1_000).toISOString();

type State = "ready" | "unready" | "fresh" | "pending" | "failed" | "terminating" | "unmeasured";

/** A pod that requests 1000m, and what it uses. */
interface Sample {
  readonly state: State;
  readonly milli: number;
}

const running = (...amounts: readonly number[]): readonly Sample[] =>
  amounts.map((milli) => ({ state: "ready", milli }));
const other = (state: State, milli = 0): Sample => ({ state, milli });

function pod({ state }: Sample, i: number): Stored<Pod> {
  const requests = { cpu: "1000m", memory: "1000m" };
  const { metadata, ...rest } = Pod({
    name: `p${i}`,
    spec: { containers: [{ name: "c", image: "i", resources: { requests } }] },
  });
  const isReady = state !== "unready" && state !== "fresh";
  const ready = { type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: before(1_790) };
  const phase = state === "pending" ? "Pending" : state === "failed" ? "Failed" : "Running";
  return {
    ...rest,
    metadata: { ...metadata, ...(state === "terminating" ? { deletionTimestamp: before(1) } : {}) },
    status: { phase, startTime: before(state === "fresh" ? 60 : 1_800), conditions: [ready] },
  } as Stored<Pod>;
}

function view(samples: readonly Sample[], target: UsageTarget, more: Partial<UsageView> = {}): UsageView {
  const usage = new Map<string, PodUsage>(
    samples.flatMap(({ state, milli }, i) =>
      ["unmeasured", "pending"].includes(state)
        ? []
        : [[`p${i}`, { milli, atMs: nowMs - 5_000, windowMs: 15_000 }] as const],
    ),
  );
  return {
    currentReplicas: samples.length,
    pods: samples.map(pod),
    usage,
    resource: "cpu",
    target,
    tolerance: { up: 0.1, down: 0.1 },
    nowMs,
    ...more,
  };
}

const percent = (value: number): UsageTarget => ({ kind: "utilization", percent: value });
const amount = (milli: number): UsageTarget => ({ kind: "average", milli });

test.each<[string, UsageView, number | string]>([
  ["at the target", view(running(500, 500), percent(50)), 2],
  ["within the tolerance", view(running(540, 540), percent(50)), 2],
  ["just outside", view(running(560, 560), percent(50)), 3],
  ["below, within the tolerance", view(running(460, 460), percent(50)), 2],
  ["twice the target", view(running(1000, 1000), percent(50)), 4],
  ["half of it", view(running(250, 250, 250, 250), percent(50)), 2],
  ["an amount for each pod", view(running(300, 500), amount(200)), 4],
  ["a wider tolerance", view(running(600, 600), percent(50), { tolerance: { up: 0.3, down: 0.1 } }), 2],
  ["a pod that has not started counts as unused", view([...running(900), other("pending")], percent(50)), 2],
  ["and does not turn growth into shrinking", view([...running(600), other("pending")], percent(50)), 2],
  ["but growth goes on", view([...running(1000, 1000, 1000), other("pending")], percent(30)), 10],
  [
    "a pod without a measurement counts in full when the rest shrinks",
    view([...running(100, 100), other("unmeasured")], percent(50)),
    3,
  ],
  ["and shrinking goes on", view([...running(100, 100, 100, 100, 100), other("unmeasured")], percent(50)), 3],
  [
    "a pod without a measurement counts as unused when the rest grows",
    view([...running(1000), other("unmeasured")], percent(40)),
    3,
  ],
  [
    "a failed pod counts nothing",
    view([...running(500), other("failed", 900)], percent(50), { currentReplicas: 1 }),
    1,
  ],
  [
    "a terminating pod neither",
    view([...running(500), other("terminating", 900)], percent(50), { currentReplicas: 1 }),
    1,
  ],
  [
    "an unready pod that starts counts nothing of its CPU",
    view([...running(500), other("fresh", 900)], percent(50)),
    2,
  ],
  ["but its memory", view([...running(500), other("fresh", 900)], percent(50), { resource: "memory" }), 3],
  ["no pods", view([], percent(50)), "no pods returned by selector while calculating replica count"],
  [
    "none of them measured",
    view([other("pending")], percent(50)),
    "did not receive metrics for targeted pods (pods might be unready)",
  ],
  [
    "no request",
    view(running(1), percent(50), { resource: "disk" }),
    "missing request for disk in container c of Pod p0",
  ],
  ["no such container", view(running(1), percent(50), { container: "x" }), "container x not found in Pod p0"],
])("%s", (_, given, wanted) => {
  const proposal = proposeReplicas(given);
  expect(typeof proposal === "string" ? proposal : proposal.replicas).toBe(wanted);
});

test("a proposal shows the average and the share of the requests", () => {
  expect(proposeReplicas(view(running(300, 500), percent(50)))).toEqual({
    replicas: 2,
    averageMilli: 400,
    utilization: 40,
  });
});
