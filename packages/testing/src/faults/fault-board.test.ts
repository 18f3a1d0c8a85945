import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { FaultBoard } from "./fault-board.ts";

function tell(board: FaultBoard): readonly (string | undefined)[] {
  board.arm(simulatedHost(1).clock, { strike: () => {}, late: () => {} });
  const encounters = ["pods", "pods", "PATCH default/pods/web"].map((what) =>
    board.writing("web", what, what === "pods", 0),
  );
  board.seeing("web", "pods", "ADDED", "7", 0);
  return encounters.map(({ fault }) => fault?.kind);
}

test("FaultBoard counts the writes of a participant by their names, and its events by theirs", () => {
  const board = new FaultBoard();
  expect(tell(board)).toEqual([undefined, undefined, undefined]);
  expect(board.writes.map(({ site, verb }) => [site.write, site.nth, verb])).toEqual([
    ["pods", 1, "CALL"],
    ["pods", 2, "CALL"],
    ["PATCH default/pods/web", 1, "PATCH"],
  ]);
  expect(board.events.map(({ site }) => [site.event, site.nth])).toEqual([["pods", 1]]);
});

test("FaultBoard records nothing for nobody, unless a fault may strike there", () => {
  const idle = new FaultBoard([], { isRead: false });
  expect(tell(idle)).toEqual([undefined, undefined, undefined]);
  expect([idle.writes, idle.events]).toEqual([[], []]);

  const at = { by: "web", write: "pods", nth: 2 };
  const planned = new FaultBoard([{ kind: "B1", at }], { isRead: false });
  expect(tell(planned)).toEqual([undefined, "B1", undefined]);
});
