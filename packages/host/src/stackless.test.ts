import { expect, test } from "vitest";
import { stackless } from "./stackless.ts";

test("stackless() makes an error that says no more than its message; others have their stacks as before", () => {
  const error = stackless(() => new TypeError("connect ECONNREFUSED"));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.stack).toBe("TypeError: connect ECONNREFUSED");
  expect(new Error("a mistake").stack).toContain("stackless.test.ts");
});

test("stackless() leaves the stacks of others alone when making throws", () => {
  const make = (): Error => {
    throw new RangeError("made wrongly");
  };
  expect(() => stackless(make)).toThrow("made wrongly");
  expect(new Error("a mistake").stack).toContain("stackless.test.ts");
});
