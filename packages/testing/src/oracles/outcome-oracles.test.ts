/** What may be excused at the end of a run, and what may not. */
import { expect, test } from "vitest";
import type { Fault } from "../faults/fault.ts";
import { type BeyondRepair, idleProgram, type ProgramModel } from "../program-model.ts";
import type { Ending, RunEnd, WorldView } from "./oracle.ts";
import { endState } from "./end-state.ts";
import { converges, sameEnd, sameOutside } from "./outcome-oracles.ts";

const at = { by: "things", write: "POST default/pods/a-*", nth: 1 } as const;
const claimDeleted: Fault = { kind: "E1", at, child: { resource: "persistentvolumeclaims", rank: 0 } };
const podDeleted: Fault = { kind: "E1", at, child: { resource: "pods", rank: 0 } };
const volumeLost: Fault = { kind: "E10", at, rank: 0 };
const unsettled = "Not settled after 300 s of virtual time";

function verdict(faults: readonly Fault[], beyondRepair?: BeyondRepair): string | undefined {
  const model: ProgramModel = { ...idleProgram, beyondRepair };
  const view = { models: [model] } as Partial<WorldView> as WorldView;
  return converges.judge(view).ended?.({ unsettled, faults } as Partial<RunEnd> as RunEnd);
}

const lost = (membersLost: number): BeyondRepair => ({ sentence: "the data of a are gone, of 2 voters", membersLost });

test("a world that does not settle is an alarm, also when people have deleted what can be made again", () => {
  expect(verdict([])).toBe(unsettled);
  expect(verdict([claimDeleted, volumeLost])).toBe(unsettled);
  expect(verdict([podDeleted], lost(1))).toBe(unsettled);
});

test("a majority whose data people have destroyed need not settle", () => {
  expect(verdict([claimDeleted], lost(1))).toBeUndefined();
  expect(verdict([volumeLost, claimDeleted], lost(2))).toBeUndefined();
});

test("one more member without its data than people have taken is the operator's doing", () => {
  expect(verdict([claimDeleted], lost(2))).toBe(unsettled);
  expect(verdict([], lost(1))).toBe(unsettled);
});

function endingWith(records: Readonly<Record<string, string>>): Ending {
  const models = [{ data: () => ({ records }) }];
  return { state: endState({ models, contents: () => ({ entries: [] }) as never }), summary: new Map() };
}

function outsideVerdict(records: Readonly<Record<string, string>>, end: Partial<RunEnd> = {}): string | undefined {
  const reference = { ...endingWith({ shop: "203.0.113.7" }), chance: new Set<string>() };
  const whole = { end: endingWith(records), reference, faults: [], hasForeignItems: false, ...end };
  const view = { models: [] } as Partial<WorldView> as WorldView;
  expect(sameEnd.judge(view).ended?.(whole as Partial<RunEnd> as RunEnd)).toBeUndefined();
  return sameOutside.judge(view).ended?.(whole as Partial<RunEnd> as RunEnd);
}

test("data outside that differ from those of the run without faults are an alarm", () => {
  expect(outsideVerdict({ shop: "203.0.113.7" })).toBeUndefined();
  expect(outsideVerdict({ shop: "old" })).toBe('Outside: records.shop is "old", and "*" without faults');
  expect(outsideVerdict({})).toBe('Outside: records is null, and {"shop":"*"} without faults');
});

test("data outside are not compared in a world that did not settle, or whose volumes people destroyed", () => {
  expect(outsideVerdict({}, { unsettled })).toBeUndefined();
  expect(outsideVerdict({}, { faults: [volumeLost] })).toBeUndefined();
  expect(outsideVerdict({}, { faults: [podDeleted] })).toBeDefined();
});
