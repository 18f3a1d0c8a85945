import { ObjectScan } from "@setpoint/client";
import type { BytePacker } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { seededRandom } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { RawObjects } from "./raw-objects.ts";

const type = { apiVersion: "v1", kind: "Box" };
const encoder = new TextEncoder();

function added(objects: RawObjects, name: string, text: string): number {
  const managedFields = [{ manager: "other-manager", fieldsV1: { "f:data": {} } }];
  const metadata = { managedFields, name, namespace: "default", resourceVersion: "41", uid: `uid-of-${name}` };
  const bytes = encoder.encode(JSON.stringify({ metadata, data: { text } }));
  const scan = new ObjectScan();
  expect(scan.scan(bytes)).toBe(true);
  return objects.add(bytes, scan);
}

const { packer } = systemHost();
const packers: [string, BytePacker | undefined][] = [
  ["as they are", undefined],
  ["packed", packer],
];

test.each(packers)("objects that are kept %s come back without managed fields and with their type", (_, packer) => {
  const objects = new RawObjects(type, packer);
  const slot = added(objects, "a", "ä");
  expect(objects.decode(objects.place(slot))).toEqual({
    ...type,
    metadata: { name: "a", namespace: "default", resourceVersion: "41", uid: "uid-of-a" },
    data: { text: "ä" },
  });
  expect([objects.uid(slot), objects.resourceVersion(slot)]).toEqual(["uid-of-a", "41"]);
});

test("objects of a kind far larger than what stays unpacked are what was added last, while others come and go", () => {
  const random = seededRandom(11);
  const objects = new RawObjects(type, packer);
  const slots: number[] = [];
  const texts: string[] = [];
  const add = (at: number, i: number): void => {
    texts[at] = `${i} `.repeat(200 + random.int(300));
    slots[at] = added(objects, `box-${at}`, texts[at]);
  };
  for (let i = 0; i < 6_000; i++) add(i, i);
  for (let i = 0; i < 6_000; i++) {
    const [gone, read] = [random.int(6_000), random.int(6_000)];
    objects.release(slots[gone] ?? -1);
    add(gone, i);
    if (i % 8 === 0)
      expect(objects.decode(objects.place(slots[read] ?? -1))).toMatchObject({ data: { text: texts[read] } });
  }
  expect(objects.liveBytes).toBeGreaterThan(8 * 1024 * 1024);
  expect(objects.keptBytes).toBeLessThan(5.5 * 1024 * 1024);
});

test.each(packers)(
  "after any changes each object (%s) is what was added last, and memory follows the objects",
  (_, packer) => {
    const random = seededRandom(7);
    const objects = new RawObjects(type, packer);
    const slots = new Map<string, { readonly slot: number; readonly text: string }>();
    for (let i = 0; i < 20_000; i++) {
      const name = `box-${random.int(2_000)}`;
      const present = slots.get(name);
      if (present !== undefined) objects.release(present.slot);
      slots.delete(name);
      if (random.int(10) === 0) continue;
      const text = `${i} `.repeat(random.int(i % 1_000 === 0 ? 50_000 : 300));
      slots.set(name, { slot: added(objects, name, text), text });
    }
    let bytes = 0;
    for (const [name, { slot, text }] of slots) {
      expect(objects.decode(objects.place(slot))).toMatchObject({ metadata: { name }, data: { text } });
      bytes += objects.length(slot);
    }
    expect(objects.liveBytes).toBe(bytes);
    expect(objects.keptBytes).toBeLessThan(2 * bytes + 1024 * 1024);
  },
);

test("many objects that nobody reads take a fraction of their bytes", () => {
  const objects = new RawObjects(type, packer);
  for (let i = 0; i < 20_000; i++) added(objects, `box-${i}`, `text of ${i} `.repeat(100));
  expect(objects.liveBytes).toBeGreaterThan(20 * 1024 * 1024);
  expect(objects.keptBytes).toBeLessThan(12 * 1024 * 1024);
});

test("a place can be read after its object has gone", () => {
  const objects = new RawObjects(type, packer);
  const slot = added(objects, "a", "first");
  const place = objects.place(slot);
  objects.release(slot);
  for (let i = 0; i < 1_000; i++) objects.release(added(objects, `b-${i}`, "x".repeat(1_000)));
  expect(objects.decode(place)).toMatchObject({ data: { text: "first" } });
});

test("managed fields take no memory", () => {
  const objects = new RawObjects(type, undefined);
  const managedFields = [{ manager: "other-manager", fieldsV1: { "f:data": "x".repeat(30_000) } }];
  const scan = new ObjectScan();
  for (let i = 0; i < 100; i++) {
    const metadata = { managedFields, name: `box-${i}`, resourceVersion: "1", uid: `uid-${i}` };
    const bytes = encoder.encode(JSON.stringify({ metadata, data: "y".repeat(1_000) }));
    expect(scan.scan(bytes)).toBe(true);
    objects.add(bytes, scan);
  }
  expect(objects.liveBytes).toBeLessThan(150_000);
  expect(objects.keptBytes).toBeLessThan(300_000);
});

test("an object without managed fields comes back whole after one with them was read", () => {
  const objects = new RawObjects(type, undefined);
  const scan = new ObjectScan();
  const add = (metadata: object): number => {
    const bytes = encoder.encode(
      JSON.stringify({ metadata: { ...metadata, name: "a", resourceVersion: "1", uid: "u" } }),
    );
    expect(scan.scan(bytes)).toBe(true);
    return objects.add(bytes, scan);
  };
  add({ labels: { a: "b" }, managedFields: [{ manager: "other-manager" }] });
  const slot = add({ labels: { a: "b".repeat(100) } });
  expect(objects.decode(objects.place(slot)).metadata.labels).toEqual({ a: "b".repeat(100) });
  expect([objects.uid(slot), objects.resourceVersion(slot)]).toEqual(["u", "1"]);
});

test("the table of the objects counts as memory that they take, and without objects there is none", () => {
  const objects = new RawObjects(type, undefined);
  expect(objects.keptBytes).toBe(0);
  for (let i = 0; i < 1_000; i++) added(objects, `box-${i}`, "");
  expect(objects.keptBytes).toBeGreaterThan(objects.liveBytes + 20_000);
});

test("a released object is gone by its number, and the number is reused", () => {
  const objects = new RawObjects(type, undefined);
  const slot = added(objects, "a", "x");
  objects.release(slot);
  expect(() => objects.place(slot)).toThrow(`the bytes of slot ${slot} have been released`);
  expect(() => objects.release(slot)).toThrow("expected a slot in use");
  const before = objects.keptBytes;
  for (let i = 0; i < 10_000; i++) objects.release(added(objects, "a", "x"));
  expect(objects.keptBytes).toBeLessThan(before + 64 * 1024);
});

test("a slab of which most is in use stays when one of its objects goes", () => {
  const objects = new RawObjects(type, undefined);
  const slots = Array.from({ length: 12 }, (_, i) => added(objects, `box-${i}`, "x".repeat(1_000)));
  const before = objects.keptBytes;
  objects.release(slots[0] ?? -1);
  expect(objects.keptBytes).toBe(before);
});

test("what is left of a slab of which most has gone moves to another, so that nothing holds its memory", () => {
  const objects = new RawObjects(type, undefined);
  const slots = Array.from({ length: 12 }, (_, i) => added(objects, `box-${i}`, `${i}`.repeat(1_000)));
  const left = slots[6] ?? -1;
  const { slab } = objects.place(left);
  for (const slot of slots.slice(0, 6)) objects.release(slot);
  expect(objects.place(left).slab).not.toBe(slab);
  expect(objects.decode(objects.place(left))).toMatchObject({ data: { text: "6".repeat(1_000) } });
});
