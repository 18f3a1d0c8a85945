import { expect, test } from "vitest";
import { compareResourceVersions } from "./resource-version.ts";

test("revisions are compared as numbers of any size", () => {
  const order = ["1", "9", "10", "99", "100", "18446744073709551616", "18446744073709551617"];
  for (const [i, a] of order.entries())
    for (const [j, b] of order.entries()) expect(Math.sign(compareResourceVersions(a, b))).toBe(Math.sign(i - j));
});
