import { createKind, failure, type ApiResponse, type KubeObject, type Transport } from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { InformerFactory } from "../cache/informer-factory.ts";
import { controller } from "./controller.ts";
import { ControllerCache } from "./controller-cache.ts";
import { OwnWrites } from "./own-writes.ts";

const Chest = createKind({ group: "example.com", version: "v1", kind: "Chest", plural: "chests", namespaced: true });
const Box = createKind({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const Lid = createKind({ group: "example.com", version: "v1", kind: "Lid", plural: "lids", namespaced: true });

const box = (name: string, revision: number, uid = `uid-of-${name}`): Stored<KubeObject> => ({
  apiVersion: "example.com/v1",
  kind: "Box",
  metadata: {
    name,
    namespace: "default",
    uid,
    resourceVersion: String(revision),
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
});
const key = { name: "a", namespace: "default" };

/** A cache that is filled by hand, of a server that has one Box or none. */
function world(serverHas: KubeObject | undefined = undefined) {
  const host = simulatedHost(1);
  const transport: Transport = {
    async send(): Promise<ApiResponse> {
      return serverHas === undefined
        ? { kind: "object", status: 404, headers: {}, object: failure(404, "NotFound", "no box") }
        : { kind: "object", status: 200, headers: {}, object: serverHas };
    },
  };
  const client = createClient(transport, host);
  const factory = new InformerFactory(client, host);
  const definition = controller(Chest, { owns: [Box, Lid], reconcile: async () => {} });
  const cache = new ControllerCache(definition, factory, undefined);
  const informer = cache.informerOf(Box, "default");
  if (informer === undefined) throw new Error("boxes are cached");
  const stopper = new AbortController();
  const ports = { client, clock: host.clock, log: host.log, signal: stopper.signal };
  const writes = new OwnWrites(cache);
  const shown = (object: Stored<KubeObject>): void => informer.store.set(`default/${object.metadata.name}`, object);
  return { host, informer, ports, stopper, writes, shown };
}

test("a read gives what the run has written until the cache has it or something newer", () => {
  const { writes } = world();
  expect(writes.overlay(Box, key, box("a", 1))).toEqual(box("a", 1));
  writes.written(Box, box("a", 5));
  expect(writes.overlay(Box, key, undefined)).toEqual(box("a", 5));
  expect(writes.overlay(Box, key, box("a", 4))).toEqual(box("a", 5));
  expect(writes.overlay(Box, key, box("a", 6))).toEqual(box("a", 6));
  const cached = box("a", 5);
  expect(writes.overlay(Box, key, cached)).toBe(cached);
  expect(writes.overlay(Box, { ...key, name: "b" }, undefined)).toBeUndefined();
  expect(writes.overlay(Lid, key, undefined)).toBeUndefined();
});

test("what the run has deleted is not read any more, a namesake of another UID is", () => {
  const { writes } = world();
  writes.deleted(Box, box("a", 1));
  expect(writes.overlay(Box, key, box("a", 1))).toBeUndefined();
  expect(writes.overlay(Box, key, box("a", 9, "another"))).toEqual(box("a", 9, "another"));
  expect(writes.overlay(Box, key, undefined)).toBeUndefined();
});

test("of a write without an answer nothing is read but what the cache has", () => {
  const { writes } = world();
  writes.unknown(Box, box("a", 1));
  expect(writes.isEmpty).toBe(false);
  expect(writes.overlay(Box, key, undefined)).toBeUndefined();
  expect(writes.overlay(Box, key, box("a", 1))).toEqual(box("a", 1));
});

test("a list has what the run has written, not what it has deleted, and only what belongs to it", () => {
  const { writes } = world();
  const cached = [box("a", 1), box("b", 2), box("c", 3)];
  const all = () => true;
  expect(writes.overlayList(Box, cached, all)).toBe(cached);
  writes.written(Box, box("a", 7));
  writes.deleted(Box, box("b", 2));
  writes.written(Box, box("d", 8));
  writes.written(Lid, { ...box("e", 9), kind: "Lid" });
  expect(writes.overlayList(Box, cached, all)).toEqual([box("a", 7), box("c", 3), box("d", 8)]);
  const isOld = ({ metadata }: KubeObject): boolean => Number(metadata.resourceVersion) < 7;
  expect(writes.overlayList(Box, cached, isOld)).toEqual([box("c", 3)]);
});

test("an echo is what shows a revision that was written or a UID that was deleted, and nothing else", () => {
  const { writes } = world();
  writes.written(Box, box("a", 5));
  writes.deleted(Box, box("b", 6));
  expect([writes.isEcho(box("a", 5)), writes.isEcho(box("b", 7))]).toEqual([true, true]);
  expect([writes.isEcho(box("a", 4)), writes.isEcho(box("b", 6, "another"))]).toEqual([false, false]);
  expect(writes.isEcho({ apiVersion: "v1", kind: "Box", metadata: { name: "a" } })).toBe(false);
});

test("the answer to any write makes it the run's own, also one that went past the context", () => {
  const { writes } = world();
  writes.answered("POST", box("a", 5));
  expect(writes.isEcho(box("a", 5))).toBe(true);
  expect(writes.overlay(Box, key, undefined)).toEqual(box("a", 5));
});

test("the answer to a deletion marks whom it has met: named, shown as it was, or going", () => {
  const { writes } = world();
  const status = { apiVersion: "v1", kind: "Status", details: { uid: "named" } };
  writes.answered("DELETE", status);
  writes.answered("DELETE", box("b", 4, "shown"));
  expect([writes.isEcho(box("x", 9, "named")), writes.isEcho(box("x", 9, "shown"))]).toEqual([true, true]);
  expect(writes.isEmpty).toBe(true);
  const going = box("c", 6, "going");
  writes.answered("DELETE", { ...going, metadata: { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  expect([writes.isEcho(box("x", 9, "going")), writes.isEcho(box("x", 6))]).toEqual([false, true]);
  expect(writes.isEmpty).toBe(false);
});

test("answers that are no objects, or of kinds that nobody caches, are not waited for", () => {
  const { writes } = world();
  for (const answer of [
    undefined,
    null,
    {},
    { kind: "Status" },
    { apiVersion: "v1" },
    { ...box("a", 1), metadata: {} },
  ])
    writes.answered("POST", answer);
  writes.answered("POST", { ...box("a", 1), metadata: { name: "a" } });
  writes.answered("POST", { ...box("a", 1), metadata: { resourceVersion: "1" } });
  writes.answered("POST", { ...box("a", 1), apiVersion: undefined });
  writes.answered("POST", { ...box("a", 1), kind: undefined });
  writes.answered("POST", { ...box("a", 3), kind: "Bag" });
  expect(writes.isEmpty).toBe(true);
  expect([writes.isEcho(box("x", 1)), writes.isEcho(box("x", 3))]).toEqual([false, true]);
});

test("a barrier is passed at once when the cache shows everything, and says what is there no more", async () => {
  const { host, ports, writes, shown } = world();
  shown(box("a", 5));
  shown(box("c", 9, "another"));
  writes.written(Box, box("a", 4));
  writes.deleted(Box, box("b", 2));
  writes.deleted(Box, box("c", 2));
  expect(await writes.settled(ports)).toBe(false);
  writes.written(Box, box("c", 8));
  expect(await writes.settled(ports)).toBe(true);
  expect(host.clock.monotonic()).toBe(0);
});

test("a write without an answer is asked for: it is waited for when it was done, and not when it was not", async () => {
  const done = world(box("a", 5));
  done.writes.unknown(Box, box("a", 1));
  done.shown(box("a", 4));
  let isOver = false;
  const settled = done.writes.settled(done.ports).finally(() => (isOver = true));
  await done.host.clock.run(1_000);
  expect(isOver).toBe(false);
  done.stopper.abort();
  expect(await settled).toBe(false);
  const undone = world();
  undone.writes.unknown(Box, box("a", 1));
  expect(await undone.writes.settled(undone.ports)).toBe(false);
  expect(undone.host.clock.monotonic()).toBe(0);
});

test("a cache that does not show a write in ten seconds is listed anew, and the wait goes on until it does", async () => {
  const { host, ports, writes, shown } = world();
  writes.written(Box, box("a", 5));
  let isOver = false;
  const settled = writes.settled(ports).finally(() => (isOver = true));
  await host.clock.run(9_999);
  shown(box("a", 5));
  await host.clock.settle();
  expect(isOver).toBe(false);
  await host.clock.run(1);
  expect(await settled).toBe(false);
});
