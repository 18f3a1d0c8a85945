import { expect, test } from "vitest";
import { Moments } from "./moments.ts";

const clock = { monotonic: () => 4_000 };

test("Moments.monotonicOf() reads what this process has said, and nothing else", () => {
  const moments = new Moments("one", clock);
  expect(moments.monotonicOf(moments.now())).toBe(4_000);
  expect(moments.monotonicOf(new Moments("other", clock).now())).toBeUndefined();
  for (const text of ["", "one", "one/", "one/-1", "one/later", "4000"])
    expect(moments.monotonicOf(text)).toBeUndefined();
});
