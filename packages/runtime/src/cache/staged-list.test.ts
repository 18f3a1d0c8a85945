import type { KubeObject } from "@setpoint/apimachinery";
import { ObjectScan, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { StagedList } from "./staged-list.ts";
import { Store } from "./store.ts";

const encoder = new TextEncoder();
const box = (name: string): Uint8Array =>
  encoder.encode(JSON.stringify({ metadata: { name, namespace: "default", uid: name, resourceVersion: "1" } }));

test("an object whose showing threw keeps its bytes when the rest of the list is given up", async () => {
  const store = new Store();
  const list = new StagedList({
    clock: simulatedHost(1).clock,
    store,
    isRestored: () => false,
    convert: (bytes) => bytes,
    decode: (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Stored<KubeObject>,
    showRaw(key, slot) {
      store.showStaged(key, slot);
      throw new Error("somebody who was told");
    },
    show() {},
    drop() {},
  });
  for (const name of ["a", "b"]) list.add(box(name));
  await expect(list.commit()).rejects.toThrow("somebody who was told");
  list.discard();
  const scan = new ObjectScan();
  for (const name of ["x", "y"]) {
    scan.scan(box(name));
    store.showStaged(`default/${name}`, store.stage(box(name), scan));
  }
  const shown = ["a", "x", "y"].map((name) => store.get(`default/${name}`)?.metadata.name);
  expect(shown).toEqual(["a", "x", "y"]);
});
