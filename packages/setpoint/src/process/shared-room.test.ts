import { expect, test } from "vitest";
import { SharedRoom, type RoomHolder } from "./shared-room.ts";

class Holder implements RoomHolder {
  readonly peer: string;
  isBusy = false;
  hasRoom = true;

  constructor(peer: string) {
    this.peer = peer;
  }

  yieldRoom(): void {
    this.hasRoom = false;
  }
}

function fill(room: SharedRoom<Holder>, peer: string, count: number): readonly Holder[] {
  const holders = Array.from({ length: count }, () => new Holder(peer));
  for (const holder of holders) room.take(holder, 1);
  return holders;
}

test("who holds the most without doing anything makes way, the oldest first", () => {
  const room = new SharedRoom<Holder>(4);
  const [little] = fill(room, "b", 1);
  const much = fill(room, "a", 3);
  expect(room.take(new Holder("c"), 1)).toBe(true);
  expect(much.map(({ hasRoom }) => hasRoom)).toEqual([false, true, true]);
  expect(little?.hasRoom).toBe(true);
});

test("who is busy keeps its room, and who comes is sent away when all are", () => {
  const room = new SharedRoom<Holder>(2);
  const holders = fill(room, "a", 2);
  for (const each of holders) each.isBusy = true;
  expect(room.take(new Holder("b"), 1)).toBe(false);
  expect(holders.every(({ hasRoom }) => hasRoom)).toBe(true);
  for (const each of holders) room.release(each);
  expect(room.take(new Holder("b"), 2)).toBe(true);
});

test("who itself holds the most does not push others out", () => {
  const room = new SharedRoom<Holder>(4);
  const [little] = fill(room, "b", 1);
  expect(room.take(new Holder("a"), 4)).toBe(false);
  expect(little?.hasRoom).toBe(true);
  expect(room.holders).toEqual([little]);
});
