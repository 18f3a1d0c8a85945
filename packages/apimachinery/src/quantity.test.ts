import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from "./quantity.ts";

test.each([
  ["0", "0"],
  ["1", "1"],
  ["100m", "100m"],
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["0.5", "500m"],
  [".5", "500m"],
  ["1.", "1"],
  ["1Ki", "1Ki"],
  ["1024Ki", "1Mi"],
  ["1025Ki", "1025Ki"],
  ["1.5Gi", "1536Mi"],
  ["1000", "1k"],
  ["1000k", "1M"],
  ["1e3", "1e3"],
  ["1E3", "1e3"],
  ["10e3", "10e3"],
  ["1e4", "10e3"],
  ["100Mi", "100Mi"],
  ["0.5Ki", "512"],
  ["0.1Mi", "104857600m"],
  ["-1.5", "-1500m"],
  ["5n", "5n"],
  ["1u", "1u"],
  ["0.1n", "1n"],
  ["1E", "1E"],
])("%s is canonically %s", (text, canonical) => {
  expect(formatQuantity(parseQuantity(text))).toBe(canonical);
});

test.each(["", "a", "1 Gi", "1KiB", "--1", "1.2.3", ".", "e3", "9".repeat(1_001)])("%j is not a quantity", (text) => {
  expect(() => parseQuantity(text)).toThrow("quantities must match the regular expression");
});

test.each(["1ee3", "1K", "1mm", "1e", "1e1001", "1e-1001"])("%j has no suffix of a quantity", (text) => {
  expect(() => parseQuantity(text)).toThrow("unable to parse quantity's suffix");
});

test("values are rounded up, as schedulers need them", () => {
  expect(quantityValue(parseQuantity("100m"))).toBe(1n);
  expect(quantityMilliValue(parseQuantity("0.1"))).toBe(100n);
  expect(quantityMilliValue(parseQuantity("1u"))).toBe(1n);
});

test("different spellings of the same amount are equal, and sums keep the first format", () => {
  expect(compareQuantities(parseQuantity("1Gi"), parseQuantity("1024Mi"))).toBe(0);
  expect(compareQuantities(parseQuantity("1G"), parseQuantity("1Gi"))).toBe(-1);
  expect(formatQuantity(addQuantities(parseQuantity("1Gi"), parseQuantity("512Mi")))).toBe("1536Mi");
  expect(formatQuantity(addQuantities(parseQuantity("0"), parseQuantity("1Mi")))).toBe("1Mi");
});

test("parsing the canonical text gives the same amount", () => {
  const suffix = fc.constantFrom("", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3");
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), suffix, (digits, unit) => {
      const quantity = parseQuantity(`${digits}${unit}`);
      expect(parseQuantity(formatQuantity(quantity)).nanos).toBe(quantity.nanos);
    }),
  );
});
