import type { BytePacker } from "@setpoint/host";
import { expect, test } from "vitest";
import { type Slab, Slabs } from "./slabs.ts";

const kib = 1024;
/** What stays unpacked of a store, in slabs of the largest size. */
const unpackedBytes = 4 * kib * kib;
const slabsMax = unpackedBytes / (64 * kib);

/** Packs to a tenth, and says how often. */
function tenthPacker(): BytePacker & { readonly packed: Uint8Array[] } {
  const packed: Uint8Array[] = [];
  const originals = new Map<Uint8Array, Uint8Array>();
  return {
    packed,
    pack(bytes) {
      const small = new Uint8Array(Math.ceil(bytes.length / 10));
      packed.push(small);
      originals.set(small, bytes.slice());
      return small;
    },
    unpack(bytes, into) {
      const original = originals.get(bytes);
      if (original === undefined) throw new Error("not packed here");
      into.set(original);
    },
  };
}

/** A slab that is filled with one number. */
function filled(slabs: Slabs, length: number, value: number): Slab {
  const slab = slabs.withRoomFor(length);
  slab.bytes?.fill(value, slab.used, slab.used + length);
  slab.used += length;
  slab.live += length;
  return slab;
}

test("slabs double up to the largest, and what is larger has one of its own", () => {
  const slabs = new Slabs(undefined);
  const sizes = Array.from({ length: 5 }, (_, i) => filled(slabs, slabs.bytes === 0 ? 8 * kib : 64, i).size);
  expect(sizes).toEqual([8 * kib, 16 * kib, 16 * kib, 16 * kib, 16 * kib]);
  const full = (): number => filled(slabs, 50 * kib, 1).size;
  expect([full(), full(), full()]).toEqual([50 * kib, 64 * kib, 64 * kib]);
  expect(filled(slabs, 100 * kib, 1).size).toBe(100 * kib);
  expect(slabs.bytes).toBe((8 + 16 + 50 + 64 + 64 + 100) * kib);
});

test("a slab is filled to its last byte before the next is begun", () => {
  const slabs = new Slabs(undefined);
  const first = filled(slabs, 8 * kib - 1, 1);
  expect(slabs.withRoomFor(1)).toBe(first);
  expect(slabs.isCurrent(first)).toBe(true);
  const second = slabs.withRoomFor(2);
  expect(second).not.toBe(first);
  expect([slabs.isCurrent(first), slabs.isCurrent(second)]).toEqual([false, true]);
});

test("an empty slab is freed when the next begins, and its holder can still read it", () => {
  const slabs = new Slabs(undefined);
  const first = filled(slabs, 8 * kib, 7);
  first.live = 0;
  filled(slabs, 1, 1);
  expect(slabs.bytes).toBe(16 * kib);
  slabs.drop(first);
  expect(slabs.bytes).toBe(16 * kib);
  expect(slabs.read(first)[0]).toBe(7);
  expect(slabs.bytes).toBe(16 * kib);
});

/** Slabs of 64 KiB, so many that the packer must work. */
function many(packer: BytePacker, count: number): { readonly slabs: Slabs; readonly filledSlabs: readonly Slab[] } {
  const slabs = new Slabs(packer);
  const filledSlabs = Array.from({ length: count }, (_, i) => filled(slabs, 64 * kib, i % 251));
  return { slabs, filledSlabs };
}

test("up to 4 MiB stay as they are; of more those that were used first are packed, and read as they were", () => {
  const packer = tenthPacker();
  const { slabs, filledSlabs } = many(packer, slabsMax);
  expect([packer.packed.length, slabs.bytes]).toEqual([0, unpackedBytes]);
  filled(slabs, 64 * kib, 200);
  expect(packer.packed).toHaveLength(1);
  expect(filledSlabs.filter(({ bytes }) => bytes === undefined)).toEqual([filledSlabs[0]]);
  expect(slabs.bytes).toBe(unpackedBytes + Math.ceil(6.4 * kib));
  for (const [i, slab] of filledSlabs.entries())
    expect([slabs.read(slab)[0], slabs.read(slab)[64 * kib - 1]]).toEqual([i % 251, i % 251]);
});

test("what is read stays as it is, rather than what nobody reads", () => {
  const { slabs, filledSlabs } = many(tenthPacker(), slabsMax);
  const [first, second] = filledSlabs;
  if (first === undefined || second === undefined) throw new Error("there are slabs");
  slabs.read(first);
  filled(slabs, 64 * kib, 1);
  expect([first.bytes === undefined, second.bytes === undefined]).toEqual([false, true]);
  // Until others have been used since.
  for (let i = 0; i < slabsMax; i++) filled(slabs, 64 * kib, 1);
  expect(first.bytes).toBeUndefined();
});

test("a slab is packed once, for it never changes, and unpacked it counts as both until it is dropped", () => {
  const packer = tenthPacker();
  const { slabs, filledSlabs } = many(packer, slabsMax + 1);
  const [first] = filledSlabs;
  if (first === undefined) throw new Error("there are slabs");
  const packedBytes = Math.ceil(6.4 * kib);
  slabs.read(first);
  expect([packer.packed.length, slabs.bytes]).toEqual([2, unpackedBytes + 2 * packedBytes]);
  for (let i = 0; i < slabsMax; i++) filled(slabs, 64 * kib, 1);
  expect(first.bytes).toBeUndefined();
  expect(packer.packed).toHaveLength(slabsMax + 1);
  const before = slabs.bytes;
  slabs.drop(first);
  expect(before - slabs.bytes).toBe(packedBytes);
});

test("only what is used of a slab is packed", () => {
  const packer = tenthPacker();
  const slabs = new Slabs(packer);
  filled(slabs, 8 * kib - 500, 1);
  for (let i = 0; i < slabsMax; i++) filled(slabs, 64 * kib, 1);
  expect(packer.packed[0]?.length).toBe(Math.ceil((8 * kib - 500) / 10));
});

test("of slabs that are packed two buffers are kept for the next ones, which are no smaller and no larger", () => {
  const { slabs, filledSlabs } = many(tenthPacker(), slabsMax);
  const buffers = filledSlabs.slice(0, 3).map(({ bytes }) => bytes);
  const next = () => filled(slabs, 64 * kib, 9).bytes;
  const first = next();
  expect(first).not.toBe(undefined);
  // The buffer of the slab that was packed for the first is the second one's.
  expect(next()).toBe(buffers[0]);
  expect(filled(slabs, 100 * kib, 9).bytes).toHaveLength(100 * kib);
  // Its 100 KiB took two slabs of 64.
  expect([next(), next()].every((bytes) => bytes !== undefined && bytes.length === 64 * kib)).toBe(true);
});

test("slabs that are unpacked one after the other share buffers", () => {
  const { slabs, filledSlabs } = many(tenthPacker(), 2 * slabsMax);
  const buffers = new Set(filledSlabs.map(({ bytes }) => bytes).filter((bytes) => bytes !== undefined));
  for (let round = 0; round < 3; round++)
    for (const [i, slab] of filledSlabs.entries()) {
      const bytes = slabs.read(slab);
      expect([bytes[0], bytes[64 * kib - 1]]).toEqual([i % 251, i % 251]);
      buffers.add(bytes);
    }
  // Those that stay, and two that waited.
  expect(buffers.size).toBeLessThanOrEqual(slabsMax + 2);
});

test("no more than two buffers wait, however many slabs are packed at once", () => {
  const { slabs, filledSlabs } = many(tenthPacker(), slabsMax);
  const buffers = new Set(filledSlabs.map(({ bytes }) => bytes));
  // So large that five slabs must be packed for it.
  filled(slabs, 5 * 64 * kib, 1);
  // A dropped slab makes room, so that the next three pack nothing.
  for (const slab of filledSlabs.slice(20, 24)) slabs.drop(slab);
  const next = Array.from({ length: 3 }, () => filled(slabs, 64 * kib, 1).bytes);
  expect(next.map((bytes) => buffers.has(bytes))).toEqual([true, true, false]);
});

test("a slab that was packed and lost what it was packed to cannot be read, which is an error", () => {
  const slab: Slab = { size: 64, used: 64, live: 64, bytes: undefined, packed: new Uint8Array(6) };
  expect(() => new Slabs(undefined).read(slab)).toThrow("a slab has lost its bytes");
  expect(() => new Slabs(tenthPacker()).read({ ...slab, packed: undefined })).toThrow("a slab has lost its bytes");
});

test("what is read and what is being filled is not packed to make room for it", () => {
  const { slabs, filledSlabs } = many(tenthPacker(), slabsMax);
  filled(slabs, 5 * 64 * kib, 1);
  const [first] = filledSlabs;
  if (first === undefined) throw new Error("there are slabs");
  expect(first.bytes).toBeUndefined();
  const current = slabs.withRoomFor(64 * kib);
  expect(slabs.read(first)[0]).toBe(0);
  expect([first.bytes === undefined, current.bytes === undefined]).toEqual([false, false]);
});

test("a slab that is larger than what stays unpacked is not packed while it is filled, whatever is read", () => {
  const { slabs, filledSlabs } = many(tenthPacker(), 3);
  const large = filled(slabs, unpackedBytes + 1, 1);
  for (const [i, slab] of filledSlabs.entries()) expect(slabs.read(slab)[0]).toBe(i);
  expect(large.bytes).toBeDefined();
});
