import { expect, test } from "vitest";
import { type CataloguePlan, choosePlan, planReport } from "./plan-catalogue.ts";

const catalogue: readonly CataloguePlan<string>[] = [
  { name: "tiny", withdrawn: "2025-12-31", reason: "too small", gives: "1Gi" },
  { name: "small", deprecated: "2026-02-01", withdrawn: "2026-03-01", gives: "2Gi" },
  { name: "large", gives: "8Gi" },
];
const nowMs = Date.parse("2026-01-01T00:00:00Z");
const small = { name: "small", gives: "2Gi" };
const large = { name: "large", gives: "8Gi" };
const tiny = { name: "tiny", gives: "1Gi" };
const gone = { name: "gone", gives: "3Gi" };
const tinyRefusal = 'plan "tiny" was withdrawn on 2025-12-31: too small; available plans are small, large';

test.each([
  ["no plan", undefined, undefined, undefined, undefined],
  ["no plan any more", undefined, small, undefined, undefined],
  ["a new instance", "small", undefined, small, undefined],
  ["another plan", "large", small, large, undefined],
  ["a plan that gives more by now", "large", { name: "large", gives: "4Gi" }, large, undefined],
  ["an unknown plan", "huge", undefined, undefined, 'plan "huge" is unknown: available plans are small, large'],
  ["a change to an unknown plan", "huge", small, small, 'plan "huge" is unknown: available plans are small, large'],
  ["a withdrawn plan", "tiny", undefined, undefined, tinyRefusal],
  ["a change to a withdrawn plan", "tiny", large, large, tinyRefusal],
  ["the withdrawn plan that it has", "tiny", tiny, tiny, undefined],
  ["the plan that it has, and that is gone", "gone", gone, gone, undefined],
])("an instance gets %s", (_, wanted, before, plan, refusal) => {
  expect(choosePlan(catalogue, wanted, before, nowMs)).toEqual({ plan, refusal });
});

test("a refusal without any plan says so", () => {
  expect(choosePlan([], "small", undefined, nowMs).refusal).toBe('plan "small" is unknown: no plans are offered');
});

test.each([
  ["2026-01-31", "Available", undefined],
  [
    "2026-02-01",
    "Deprecated",
    'plan "small" has been deprecated since 2026-02-01, and will be withdrawn on 2026-03-01',
  ],
  ["2026-03-01", "Withdrawn", 'plan "small" was withdrawn on 2026-03-01'],
])("on %s a plan is %s", (day, state, message) => {
  expect(planReport(catalogue, "small", Date.parse(day))).toEqual({ state, message });
});

test("a plan that is in no catalogue is Unknown", () => {
  expect(planReport(catalogue, "gone", nowMs)).toEqual({ state: "Unknown" });
});
