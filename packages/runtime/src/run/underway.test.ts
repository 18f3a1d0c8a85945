import { expect, test } from "vitest";
import { Underway } from "./underway.ts";

test("whoever waits is told when the last has ended, at once when there is none, and again after others", async () => {
  const underway = new Underway();
  await underway.allEnded();
  const told: string[] = [];
  const wait = async (name: string): Promise<void> => {
    await underway.allEnded();
    told.push(name);
  };
  underway.begin();
  underway.begin();
  const waiting = [wait("first"), wait("second")];
  underway.end();
  await Promise.resolve();
  expect(told).toEqual([]);
  underway.end();
  await Promise.all(waiting);
  expect(told).toEqual(["first", "second"]);
  underway.begin();
  const last = wait("third");
  expect(told).toHaveLength(2);
  underway.end();
  await last;
  expect(told).toEqual(["first", "second", "third"]);
});
