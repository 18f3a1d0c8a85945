import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { FaultBoard } from "./faults/fault-board.ts";
import type { Onlooker } from "./onlooker.ts";
import { Participant } from "./participant.ts";
import { Trace } from "./trace.ts";

const onlooker: Onlooker = { passed() {}, saw() {} };
const fault = { kind: "C6", at: { by: "a", event: "pods", nth: 1 }, compacted: false } as const;

test.each([
  ["by a fault", { board: new FaultBoard([fault], { isRead: false }) }, true],
  ["by a reader of the board", { board: new FaultBoard() }, true],
  ["by an onlooker", { board: new FaultBoard([], { isRead: false }), onlooker }, true],
  ["by nobody", { board: new FaultBoard([], { isRead: false }) }, false],
  ["by nobody, without a board", { onlooker }, false],
])("Participant.views look at what a participant sees when that is asked for: %s", (_, options, hasViews) => {
  const { clock, random } = simulatedHost(1);
  const who = new Participant({ name: "a", clock, random, trace: new Trace(), ...options });
  expect(who.views !== undefined).toBe(hasViews);
});
