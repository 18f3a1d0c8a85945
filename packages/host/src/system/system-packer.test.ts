import { expect, test } from "vitest";
import { systemPacker } from "./system-packer.ts";

test.each([0, 1, 63, 64, 65_535, 65_536, 300_000])("%i bytes come back as they were packed", (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * i) % 251);
  const unpacked = systemPacker.unpack(systemPacker.pack(bytes), length);
  expect(unpacked.length).toBe(length);
  expect(Buffer.compare(unpacked, bytes)).toBe(0);
});

test("what is unpacked takes what it is long, because whole caches are", () => {
  const unpacked = systemPacker.unpack(systemPacker.pack(new Uint8Array(65_536)), 65_536);
  expect(unpacked.buffer.byteLength).toBeLessThanOrEqual(65_536 + 64);
});
