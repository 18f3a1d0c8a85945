import { expect, test } from "vitest";
import { positionText, readSegmentName, segmentsBetween } from "./log-segments.ts";

test("segmentsBetween() names the segments of 16 MiB as PostgreSQL does", () => {
  expect(segmentsBetween(1, "0/3000028", "0/3000100")).toEqual(["000000010000000000000003"]);
  // An end at the border needs nothing of the next segment.
  expect(segmentsBetween(2, "0/3000028", "0/4000000")).toEqual(["000000020000000000000003"]);
  expect(segmentsBetween(10, "0/FF000000", "1/1000001")).toEqual([
    "0000000A00000000000000FF",
    "0000000A0000000100000000",
    "0000000A0000000100000001",
  ]);
});

test("readSegmentName() is its reverse, and knows what is no segment", () => {
  const { timeline, start = 0n } = readSegmentName("0000000A0000000100000001") ?? {};
  expect([timeline, positionText(start)]).toEqual([10, "1/1000000"]);
  for (const name of ["00000002.history", "0000000A0000000100000001.partial", ""])
    expect(readSegmentName(name)).toBeUndefined();
});
