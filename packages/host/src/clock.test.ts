import { expect, test } from "vitest";
import { timestampAt } from "./clock.ts";

test("a timestamp is that of its second, whichever others were asked for", () => {
  const asked = [
    0, 999, 1_000, 32_000, 0, 32_999, -1, -32_000, 1_767_225_600_123, 1_767_225_632_999, 1_767_225_600_999,
  ];
  for (const epochMs of asked) expect(timestampAt(epochMs)).toBe(`${new Date(epochMs).toISOString().slice(0, 19)}Z`);
  for (const none of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => timestampAt(none)).toThrow(RangeError);
});
