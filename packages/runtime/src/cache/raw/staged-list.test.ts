import type { KubeObject } from "@setpoint/apimachinery";
import { ObjectScan, type Stored } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { StagedList, type StagedListPorts } from "./staged-list.ts";
import { Store, storeKey } from "../store.ts";

const encoder = new TextEncoder();
const decode = (bytes: Uint8Array): Stored<KubeObject> =>
  JSON.parse(new TextDecoder().decode(bytes)) as Stored<KubeObject>;
const box = (name: string, revision = 1, uid = name, fields: object = {}): Uint8Array =>
  encoder.encode(
    JSON.stringify({ metadata: { name, namespace: "default", uid, resourceVersion: String(revision) }, ...fields }),
  );
/** A form that no server sends, which is JSON all the same: a key with an escape. */
const escaped = (name: string): Uint8Array =>
  encoder.encode(new TextDecoder().decode(box(name)).replace(`"metadata"`, String.raw`"\u006detadata"`));

/** A list for a store, which shows what is staged, and what has been done meanwhile. */
function begin(ports: Partial<StagedListPorts> = {}) {
  const store = ports.store ?? new Store();
  const done: string[] = [];
  const list = new StagedList({
    clock: simulatedHost(1).clock,
    store,
    isRestored: () => false,
    convert: (bytes) => bytes,
    decode,
    showRaw(key, slot) {
      store.setStaged(key, slot);
      done.push(`raw ${key}`);
    },
    show(object) {
      store.set(storeKey(object.metadata), object);
      done.push(`object ${storeKey(object.metadata)}`);
    },
    drop(key) {
      store.delete(key);
      done.push(`drop ${key}`);
    },
    ...ports,
  });
  return { store, list, done };
}

test("an object whose showing threw keeps its bytes when the rest of the list is given up", async () => {
  const store = new Store();
  const { list } = begin({
    store,
    showRaw(key, slot) {
      store.setStaged(key, slot);
      throw new Error("an observer fails");
    },
  });
  for (const name of ["a", "b"]) list.add(box(name));
  await expect(list.commit()).rejects.toThrow("an observer fails");
  list.discard();
  const scan = new ObjectScan();
  for (const name of ["x", "y"]) {
    scan.scan(box(name));
    store.setStaged(`default/${name}`, store.stage(box(name), scan));
  }
  const shown = ["a", "x", "y"].map((name) => store.get(`default/${name}`)?.metadata.name);
  expect(shown).toEqual(["a", "x", "y"]);
});

test("a complete list shows what is new or newer, leaves what is as it was, and drops what it lacks", async () => {
  const first = begin();
  for (const name of ["same", "changed", "again", "gone"]) first.list.add(box(name));
  await first.list.commit();
  const { store, list, done } = begin({ store: first.store });
  list.add(box("same"));
  list.add(box("changed", 2));
  list.add(box("again", 1, "another"));
  list.add(box("new"));
  expect([store.size, done]).toEqual([4, []]);
  await list.commit();
  expect(done).toEqual(["raw default/changed", "raw default/again", "raw default/new", "drop default/gone"]);
});

test("an object that is older in the list than in the cache stays, unless the cluster has gone back in time", async () => {
  const first = begin();
  first.list.add(box("a", 9));
  await first.list.commit();
  const usual = begin({ store: first.store });
  usual.list.add(box("a", 5));
  await usual.list.commit();
  expect(usual.done).toEqual([]);
  const restored = begin({ store: first.store, isRestored: () => true });
  restored.list.add(box("a", 5));
  await restored.list.commit();
  expect(restored.done).toEqual(["raw default/a"]);
  expect(first.store.versionOf("default/a")?.resourceVersion).toBe("5");
});

test("bytes in a form that no server sends are kept as what they mean, and found when they are removed", async () => {
  const { store, list, done } = begin();
  for (const name of ["a", "b", "c"]) list.add(escaped(name));
  list.add(box("d"));
  list.remove(escaped("b"));
  list.remove(escaped("d"));
  await list.commit();
  expect(done).toEqual(["object default/a", "object default/c"]);
  expect(store.get("default/a")?.metadata.uid).toBe("a");
});

test("what a transform makes of an object is kept as bytes where it can be", async () => {
  const { store, list, done } = begin({
    convert: (bytes) => (decode(bytes).metadata.name === "odd" ? escaped("odd") : box("even", 1, "even", { data: 1 })),
  });
  list.add(box("even"));
  list.add(box("odd"));
  await list.commit();
  expect(done).toEqual(["raw default/even", "object default/odd"]);
  expect(store.get("default/even")).toMatchObject({ data: 1 });
});

test("an object that came twice is its last state, and one that was removed meanwhile is not shown", async () => {
  const { store, list, done } = begin();
  list.add(box("a", 1));
  list.add(box("b", 2));
  list.add(box("a", 3));
  list.remove(box("b", 4));
  await list.commit();
  expect(done).toEqual(["raw default/a"]);
  expect(store.versionOf("default/a")?.resourceVersion).toBe("3");
  expect(store.bytes).toBe(box("a", 3).length);
});

test("a list that is given up, and what it replaced on its way, take no memory", () => {
  const { store, list } = begin();
  for (const revision of [1, 2]) list.add(box("a", revision));
  list.add(box("b"));
  list.remove(box("b"));
  expect(store.bytes).toBe(box("a").length);
  list.discard();
  expect(store.bytes).toBe(0);
  // What was given up is given up once.
  list.discard();
  expect(store.bytes).toBe(0);
});

test("a list that was shown is not given up afterwards", async () => {
  const { store, list } = begin();
  list.add(box("a"));
  await list.commit();
  list.discard();
  expect(store.get("default/a")?.metadata.name).toBe("a");
});

test("a long list is shown, and a long one dropped, in slices between which others have their turn", async () => {
  let nowMs = 0;
  let turns = 0;
  const { clock } = simulatedHost(1);
  const slow: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs++,
    setTimer: clock.setTimer.bind(clock),
    defer(callback) {
      turns++;
      callback();
    },
  };
  const first = begin({ clock: slow });
  for (let i = 0; i < 320; i++) first.list.add(box(`box-${i}`));
  await first.list.commit();
  const shown = turns;
  expect(shown).toBeGreaterThan(0);
  const last = begin({ store: first.store, clock: slow });
  await last.list.commit();
  expect(last.done).toHaveLength(320);
  expect(turns).toBe(2 * shown);
});
