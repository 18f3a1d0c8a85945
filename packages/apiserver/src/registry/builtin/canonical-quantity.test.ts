import { expect, test } from "vitest";
import { canonicalQuantity } from "./canonical-quantity.ts";

test.each([
  ["0.5", "500m"],
  [1, "1"],
  ["1024Mi", "1Gi"],
  ["512Mi", "512Mi"],
  ["999m", "999m"],
  ["1Ki", "1Ki"],
  ["1000m", "1"],
  ["1500Mi", "1500Mi"],
  ["0.5Gi", "512Mi"],
  ["1e3", "1e3"],
  ["1000k", "1M"],
  ["-2", "-2"],
  ["0Mi", "0"],
  ["many", "many"],
])("the quantity %s is stored as %s", (written, stored) => {
  expect(canonicalQuantity(written)).toBe(stored);
});
