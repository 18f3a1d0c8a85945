import { expect, test } from "vitest";
import { systemPacker } from "./system-packer.ts";

const lengths = [0, 1, 63, 64, 8_192, 16_384, 40_000, 65_535, 65_536, 300_000];

test.each(lengths)("%i bytes come back as they were packed", (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * i) % 251);
  const unpacked = new Uint8Array(length);
  systemPacker.unpack(systemPacker.pack(bytes), unpacked);
  expect(Buffer.compare(unpacked, bytes)).toBe(0);
});

test.each(lengths)("%i bytes that cannot be made smaller come back too", (length) => {
  let state = 1;
  const bytes = Uint8Array.from({ length }, () => (state = (state * 48_271) % 2_147_483_647) >> 8);
  const packed = systemPacker.pack(bytes);
  const unpacked = new Uint8Array(length);
  systemPacker.unpack(packed, unpacked);
  expect(Buffer.compare(unpacked, bytes)).toBe(0);
});

test("what is packed has memory of its own, as much as it is long, because whole caches are", () => {
  const packed = systemPacker.pack(new Uint8Array(65_536));
  expect(packed.buffer.byteLength).toBe(packed.length);
});

test("reading through a large cache leaves no buffers behind for the garbage collector", () => {
  const bytes = Uint8Array.from({ length: 65_000 }, (_, i) => (i * i) % 251);
  const into = new Uint8Array(bytes.length);
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 200; i++) systemPacker.unpack(systemPacker.pack(bytes), into);
  // Two buffers of 65 kB a time would be 26 MB.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
});
