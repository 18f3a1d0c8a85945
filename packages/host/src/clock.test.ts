import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { microTimestamp, timestampAt } from "./clock.ts";

test("a timestamp is that of its second, whichever others were asked for", () => {
  const asked = [
    0, 999, 1_000, 32_000, 0, 32_999, -1, -32_000, 1_767_225_600_123, 1_767_225_632_999, 1_767_225_600_999,
  ];
  for (const epochMs of asked) expect(timestampAt(epochMs)).toBe(`${new Date(epochMs).toISOString().slice(0, 19)}Z`);
  for (const none of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => timestampAt(none)).toThrow(RangeError);
});

test("a timestamp in microseconds has the milliseconds of its time, and no more", () => {
  const clock = simulatedHost(1, 7_012.5).clock;
  expect(microTimestamp(clock)).toBe("2026-01-01T00:00:07.012000Z");
});
