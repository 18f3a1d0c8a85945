import { expect, test } from "vitest";
import { ComplianceProbe, type ProbeRun, runAnnotation } from "../kind/compliance-probe.ts";
import type { Seen, SeenRun } from "../seen/seen.ts";
import { plan, rules } from "./plan.ts";

const now = "2026-11-28T12:00:00Z";
const nowMs = Date.parse(now);
const ago = (seconds: number): string => new Date(nowMs - seconds * 1_000).toISOString();

const run: SeenRun = {
  name: "shop-run-2",
  uid: "2",
  number: 2,
  generation: 1,
  requested: undefined,
  startedAt: ago(20),
  isDeleting: false,
  finishedAt: undefined,
  attempts: new Map(),
  problem: undefined,
};
const last: ProbeRun = { number: 1, pod: "shop-run-1", startedAt: ago(3_600), finishedAt: ago(3_500), generation: 1 };

interface Situation extends Partial<Omit<Seen, "probe">> {
  readonly spec?: Partial<ComplianceProbe["spec"]>;
  readonly lastRun?: ProbeRun;
  readonly annotation?: string;
}

function seen({ spec = {}, lastRun, annotation, ...facts }: Situation): Seen {
  const probe = ComplianceProbe({
    ...{ name: "shop", spec },
    ...(annotation === undefined ? {} : { annotations: { [runAnnotation]: annotation } }),
  });
  const metadata = {
    ...probe.metadata,
    name: "shop",
    uid: "1",
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: now,
  };
  const status = lastRun === undefined ? {} : { lastRun };
  return {
    probe: { ...probe, metadata, status } as Seen["probe"],
    ...{ nowMs, run: undefined, olderRuns: [], accepted: [], baselineProblem: undefined },
    ...facts,
  };
}

const daily = { schedule: "0 13 * * *" };
const rows: readonly (readonly [string, Situation, string, string])[] = [
  // situation, what is seen, rule, step
  ["two pods", { run, olderRuns: ["shop-run-1"] }, "older", "discard: no longer needed: shop-run-1"],
  ["a pod has ended", { run: { ...run, finishedAt: ago(1) } }, "record", "record: run 2 has ended"],
  ["a pod runs", { run }, "running", "wait: waiting for the pod shop-run-2"],
  [
    "a pod does not start",
    { run: { ...run, problem: "no node is free" } },
    "running",
    "wait: waiting for the pod shop-run-2: no node is free",
  ],
  [
    "a pod is recorded",
    { run, lastRun: { ...last, pod: run.name } },
    "recorded",
    "discard: no longer needed: shop-run-2",
  ],
  [
    "it is being deleted",
    { run: { ...run, isDeleting: true }, lastRun: { ...last, pod: run.name } },
    "recorded",
    "wait: the pod shop-run-2 is being deleted",
  ],
  ["the line never fires", { spec: { schedule: "0 0 30 2 +MON" }, lastRun: last }, "schedule", "rest ScheduleRefused"],
  ["it has never run", {}, "due", "start: shop-run-1 begins: it has never run"],
  [
    "the spec has changed",
    { lastRun: { ...last, generation: 0 } },
    "due",
    "start: shop-run-2 begins: the spec has changed",
  ],
  [
    "the last run failed",
    { lastRun: { ...last, failure: "x" } },
    "due",
    "start: shop-run-2 begins: the last run failed",
  ],
  [
    "the schedule says so",
    { spec: { schedule: "30 11 * * *" }, lastRun: last },
    "due",
    "start: shop-run-2 begins: the schedule says so",
  ],
  [
    "a person asks",
    { lastRun: last, annotation: "now", spec: { suspend: true } },
    "due",
    `start: shop-run-2 begins: annotation ${runAnnotation} asks for it`,
  ],
  ["nothing is due", { lastRun: last }, "rest", "rest"],
  ["the request is done", { lastRun: { ...last, requested: "now" }, annotation: "now" }, "rest", "rest"],
  ["it is suspended", { lastRun: { ...last, generation: 0 }, spec: { suspend: true } }, "rest", "rest"],
  ["the next run is in an hour", { lastRun: last, spec: daily }, "rest", "rest 3600 s"],
  [
    "Berlin is an hour ahead",
    { lastRun: { ...last, startedAt: ago(60) }, spec: { schedule: "0 14 * * *", timeZone: "Europe/Berlin" } },
    "rest",
    "rest 3600 s",
  ],
  [
    "an acceptance ends",
    { lastRun: last, accepted: [{ act: "bpf", reason: "x", until: ago(-60) }] },
    "rest",
    "rest 60 s",
  ],
  [
    "a ConfigMap may change",
    { lastRun: last, spec: { ...daily, baseline: { configMap: "known" } } },
    "rest",
    "rest 60 s",
  ],
];

test.each(rows)("%s", (_, situation, rule, expected) => {
  const step = plan(seen(situation), nowMs);
  const said =
    step.kind === "act"
      ? `${step.action}: ${step.reason}`
      : step.kind === "wait"
        ? `wait: ${step.reason}`
        : ["rest", step.stalled?.reason, step.recheckMs === undefined ? undefined : `${step.recheckMs / 1_000} s`]
            .filter((each) => each !== undefined)
            .join(" ");
  expect([step.rule, said]).toEqual([rule, expected]);
});

test("each rule has a row", () => {
  expect([...new Set(rows.map(([, , rule]) => rule))]).toEqual(rules.map(({ name }) => name));
});
