import {
  createKind,
  failure,
  type ApiResponse,
  type KubeObject,
  type StatusReason,
  type Transport,
} from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { CacheOptions } from "../cache/cache-options.ts";
import { InformerFactory } from "../cache/informer-factory.ts";
import { controller } from "../controller/controller.ts";
import { ControllerCache } from "../controller/controller-cache.ts";
import { OwnWrites } from "./own-writes.ts";

const Chest = createKind({ group: "example.com", version: "v1", kind: "Chest", plural: "chests", namespaced: true });
const Box = createKind({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const Lid = createKind({ group: "example.com", version: "v1", kind: "Lid", plural: "lids", namespaced: true });
const Room = createKind({ group: "example.com", version: "v1", kind: "Room", plural: "rooms", namespaced: false });

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

/** As it was sent; of most answers the path tells nothing that they do not. */
const request = (method: string, path = "/apis/example.com/v1/namespaces/default/boxes/a") => ({ method, path });

interface Surroundings {
  readonly caches?: CacheOptions;
  readonly namespaces?: readonly string[];
}

/** A cache that is filled by hand, of a server that has one Box or none, or refuses to say. */
function world(serverHas?: KubeObject, { caches, namespaces }: Surroundings = {}) {
  const host = simulatedHost(1);
  const server = { has: serverHas, refuses: false, asked: [] as string[] };
  const refusal = (status: number, reason: StatusReason): ApiResponse => ({
    ...{ kind: "object", status, headers: {} },
    object: failure(status, reason, "no box"),
  });
  const transport: Transport = {
    async send({ path }): Promise<ApiResponse> {
      server.asked.push(`${host.clock.monotonic()} ${path}`);
      if (server.refuses) return refusal(403, "Forbidden");
      if (server.has === undefined) return refusal(404, "NotFound");
      return { kind: "object", status: 200, headers: {}, object: server.has };
    },
  };
  const client = createClient(transport, host);
  const factory = new InformerFactory(client, host, caches);
  const definition = controller(Chest, { owns: [Box, Lid, Room], reconcile: async () => {} });
  const cache = new ControllerCache(definition, factory, namespaces);
  const informer = cache.informerOf(Box, "default");
  if (informer === undefined) throw new Error("boxes are cached");
  const stopper = new AbortController();
  const ports = { client, clock: host.clock, log: host.log, signal: stopper.signal };
  const writes = new OwnWrites(cache);
  const shown = (object: Stored<KubeObject>): void => informer.store.set(`default/${object.metadata.name}`, object);
  /** How often the informer was asked to relist. */
  let refreshed = 0;
  informer.refresh = () => void refreshed++;
  /** What comes of it within a minute of this world's time. */
  const soon = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    const end = (): void => void (isOver = true);
    promise.then(end, end);
    if (!(await host.clock.run(60_000, () => isOver))) throw new Error("nothing came of it within a minute");
    return promise;
  };
  return { host, informer, ports, refreshed: () => refreshed, server, shown, soon, stopper, writes };
}

test("a read gives what the run has written until the cache has it or something newer", () => {
  const { writes } = world();
  expect(writes.overlay(Box, "default/a", box("a", 1))).toEqual(box("a", 1));
  writes.written(Box, box("a", 5));
  expect(writes.overlay(Box, "default/a", undefined)).toEqual(box("a", 5));
  expect(writes.overlay(Box, "default/a", box("a", 4))).toEqual(box("a", 5));
  expect(writes.overlay(Box, "default/a", box("a", 6))).toEqual(box("a", 6));
  const cached = box("a", 5);
  expect(writes.overlay(Box, "default/a", cached)).toBe(cached);
  expect(writes.overlay(Box, "default/b", undefined)).toBeUndefined();
  expect(writes.overlay(Lid, "default/a", undefined)).toBeUndefined();
});

test("what the run has deleted is not read any more, a namesake of another UID is", () => {
  const { writes } = world();
  writes.deleted(Box, box("a", 1));
  expect(writes.overlay(Box, "default/a", box("a", 1))).toBeUndefined();
  expect(writes.overlay(Box, "default/a", box("a", 9, "another"))).toEqual(box("a", 9, "another"));
  expect(writes.overlay(Box, "default/a", undefined)).toBeUndefined();
});

test("of a write without an answer nothing is read but what the cache has", () => {
  const { writes } = world();
  writes.unknown(Box, box("a", 1));
  expect(writes.isEmpty).toBe(false);
  expect(writes.overlay(Box, "default/a", undefined)).toBeUndefined();
  expect(writes.overlay(Box, "default/a", box("a", 1))).toEqual(box("a", 1));
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
  writes.answered(request("POST"), box("a", 5));
  expect(writes.isEcho(box("a", 5))).toBe(true);
  expect(writes.overlay(Box, "default/a", undefined)).toEqual(box("a", 5));
});

test("the answer to a deletion marks whom it has met: named, shown as it was, or going", () => {
  const { writes, shown } = world();
  const boxes = "/apis/example.com/v1/namespaces/default/boxes";
  shown(box("a", 3, "named"));
  shown(box("b", 3, "shown"));
  const status = { apiVersion: "v1", kind: "Status", metadata: {}, details: { uid: "named" } };
  writes.answered(request("DELETE", `${boxes}/a`), status);
  writes.answered(request("DELETE", `${boxes}/b`), box("b", 4, "shown"));
  expect([writes.isEcho(box("x", 9, "named")), writes.isEcho(box("x", 9, "shown"))]).toEqual([true, true]);
  expect(writes.overlay(Box, "default/a", box("a", 3, "named"))).toBeUndefined();
  expect(writes.overlay(Box, "default/b", box("b", 3, "shown"))).toBeUndefined();
  const going = box("c", 6, "going");
  const marked = { ...going, metadata: { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  writes.answered(request("DELETE", `${boxes}/c`), marked);
  expect([writes.isEcho(box("x", 9, "going")), writes.isEcho(box("x", 6))]).toEqual([false, true]);
  expect(writes.overlay(Box, "default/c", box("c", 5, "going"))).toEqual(marked);
});

test("a deletion past the context is waited for like any other, by its path, and only if a cache has such objects", async () => {
  for (const [path, isWaitedFor] of [
    ["/apis/example.com/v1/namespaces/default/boxes/a", true],
    ["/apis/example.com/v1/namespaces/default/boxes/%61", true],
    ["/apis/example.com/v1/namespaces/default/boxes/a/lid", false],
    ["/apis/example.com/v1/namespaces/default/boxes", false],
    ["/apis/example.com/v1/namespaces/default/bags/%", false],
    ["/apis/example.com/v2/namespaces/default/boxes/a", false],
    ["/apis/example.com/v1/rooms/a", true],
    ["/apis/example.com/v1/boxes/a", false],
  ] as const) {
    const { writes } = world();
    writes.answered(request("DELETE", path), { apiVersion: "v1", kind: "Status", details: { uid: "old" } });
    expect([path, !writes.isEmpty]).toEqual([path, isWaitedFor]);
  }
  const { ports, soon, writes, shown, informer } = world();
  shown(box("a", 3, "old"));
  writes.answered(request("DELETE"), { apiVersion: "v1", kind: "Status", details: { uid: "old" } });
  let isOver = false;
  const settled = writes.settled(ports).finally(() => (isOver = true));
  await soon(Promise.resolve());
  expect(isOver).toBe(false);
  informer.store.delete("default/a");
  expect(await soon(settled)).toBe(false);
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
    writes.answered(request("POST"), answer);
  writes.answered(request("POST"), { ...box("a", 1), metadata: { name: "a" } });
  writes.answered(request("POST"), { ...box("a", 1), metadata: { resourceVersion: "1" } });
  writes.answered(request("POST"), { ...box("a", 1), apiVersion: undefined });
  writes.answered(request("POST"), { ...box("a", 1), kind: undefined });
  writes.answered(request("POST"), { ...box("a", 3), kind: "Bag" });
  expect(writes.isEmpty).toBe(true);
  expect([writes.isEcho(box("x", 1)), writes.isEcho(box("x", 3))]).toEqual([false, true]);
});

test("a barrier is passed at once when the cache shows everything, and says what is there no more", async () => {
  const { host, ports, soon, writes, shown } = world();
  shown(box("a", 5));
  shown(box("c", 9, "another"));
  writes.written(Box, box("a", 4));
  writes.deleted(Box, box("b", 2));
  writes.deleted(Box, box("c", 2));
  expect(await soon(writes.settled(ports))).toBe(false);
  writes.written(Box, box("c", 8));
  expect(await soon(writes.settled(ports))).toBe(true);
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
  expect(await done.soon(settled)).toBe(false);
  const undone = world();
  undone.writes.unknown(Box, box("a", 1));
  expect(await undone.soon(undone.writes.settled(undone.ports))).toBe(false);
  expect(undone.host.clock.monotonic()).toBe(0);
});

test("a cache that does not show a write in ten seconds relists, and the wait continues until it does", async () => {
  const { host, ports, refreshed, soon, writes, shown } = world();
  writes.written(Box, box("a", 5));
  let isOver = false;
  const settled = writes.settled(ports).finally(() => (isOver = true));
  await host.clock.run(9_999);
  expect(refreshed()).toBe(0);
  await host.clock.run(10_000);
  expect([isOver, refreshed()]).toEqual([false, 1]);
  shown(box("a", 5));
  await host.clock.settle();
  expect(isOver).toBe(false);
  await host.clock.run(1);
  expect([await soon(settled), refreshed()]).toEqual([false, 2]);
  expect(host.lines.map(({ message, fields }) => [message, fields["object"], fields["waitedMs"]])).toEqual(
    [1, 2].map(() => ["Cache does not show an own write; relisting", "default/a", 10_000]),
  );
});

test("a barrier looks at the cache again whenever that has changed, and ends when it shows the write", async () => {
  const { host, informer, ports, refreshed, shown, soon, writes } = world();
  const told = new Set<() => void>();
  informer.onProgress = (callback) => {
    told.add(callback);
    return () => void told.delete(callback);
  };
  writes.written(Box, box("a", 5));
  let isOver = false;
  const settled = writes.settled(ports).finally(() => (isOver = true));
  await host.clock.run(3_000);
  for (const revision of [3, 5]) {
    expect(isOver).toBe(false);
    shown(box("a", revision));
    for (const callback of told) callback();
    await host.clock.settle();
  }
  expect(isOver).toBe(true);
  expect([await soon(settled), host.clock.monotonic(), refreshed()]).toEqual([false, 3_000, 0]);
});

test("a write that was not done when the server was asked is asked for again after ten seconds, for it may come late", async () => {
  const { host, ports, server, soon, writes, shown } = world();
  shown(box("a", 4));
  writes.unknown(Box, box("a", 1));
  let isOver = false;
  const settled = writes.settled(ports).finally(() => (isOver = true));
  await host.clock.run(5_000);
  server.has = box("a", 7);
  shown(box("a", 5));
  await host.clock.run(14_000);
  expect(server.asked).toHaveLength(2);
  expect(isOver).toBe(false);
  shown(box("a", 7));
  expect(await soon(settled)).toBe(false);
  expect(host.clock.monotonic()).toBe(20_000);
  // From now on it is known.
  expect(server.asked).toHaveLength(2);
});

test("a server that does not say what became of a write is asked every second, where the object is", async () => {
  const { host, ports, server, soon, writes } = world();
  server.refuses = true;
  writes.unknown(Box, { ...box("a", 1), metadata: { name: "a", namespace: "more" } });
  writes.unknown(Room, { apiVersion: "example.com/v1", kind: "Room", metadata: { name: "r" } });
  const settled = writes.settled(ports);
  await host.clock.run(1_500);
  server.refuses = false;
  expect(await soon(settled)).toBe(false);
  const [ofBox, ofRoom] = ["/apis/example.com/v1/namespaces/more/boxes/a", "/apis/example.com/v1/rooms/r"];
  expect(server.asked.toSorted()).toEqual([0, 1_000, 2_000].flatMap((ms) => [`${ms} ${ofBox}`, `${ms} ${ofRoom}`]));
});

test("a cache that holds a part of its kind is waited for only where it shows the object already", async () => {
  const { ports, soon, writes, shown } = world(undefined, {
    caches: { kinds: [{ kind: Box, labelSelector: "size=large" }] },
  });
  shown(box("b", 2));
  writes.answered(request("POST"), box("a", 5));
  expect([writes.isEmpty, writes.isEcho(box("a", 5))]).toEqual([true, true]);
  writes.answered(request("PATCH"), box("b", 6));
  expect(writes.isEmpty).toBe(false);
  // The write may have taken it out of the selection: that it is not there is no news.
  writes.written(Box, box("c", 1));
  shown(box("b", 6));
  shown(box("c", 1, "another"));
  expect(await soon(writes.settled(ports))).toBe(false);
});

test("what was written to a namespace that nobody caches is not waited for", async () => {
  const { ports, soon, writes, host } = world(undefined, { namespaces: ["default", "more"] });
  const elsewhere = { ...box("a", 5), metadata: { ...box("a", 5).metadata, namespace: "elsewhere" } };
  writes.answered(request("POST"), elsewhere);
  expect(writes.isEmpty).toBe(true);
  writes.written(Box, elsewhere);
  expect(await soon(writes.settled(ports))).toBe(false);
  expect(host.clock.monotonic()).toBe(0);
});

test("a barrier ends as soon as the run is stopped, and leaves no listener and no timer behind", async () => {
  const { host, informer, ports, refreshed, soon, stopper, writes } = world();
  let [timers, listeners, aborts] = [0, 0, 0];
  const clock: Clock = {
    now: () => host.clock.now(),
    monotonic: () => host.clock.monotonic(),
    defer: (callback) => host.clock.defer(callback),
    setTimer(callback, delayMs) {
      const timer = host.clock.setTimer(callback, delayMs);
      timers++;
      const cancel = (): void => {
        timers--;
        timer.cancel();
      };
      return { ...timer, cancel };
    },
  };
  const { signal } = stopper;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...of: Parameters<typeof add>) => (aborts++, add(...of));
  signal.removeEventListener = (...of: Parameters<typeof remove>) => (aborts--, remove(...of));
  const listen = informer.onProgress.bind(informer);
  informer.onProgress = (callback) => {
    const end = listen(callback);
    listeners++;
    return () => (listeners--, end());
  };
  writes.written(Box, box("a", 5));
  const settled = writes.settled({ ...ports, clock });
  await host.clock.run(3_000);
  expect([timers, listeners, aborts]).toEqual([1, 1, 1]);
  stopper.abort();
  expect(await soon(settled)).toBe(false);
  expect([timers, listeners, aborts]).toEqual([0, 0, 0]);
  expect([host.clock.monotonic(), refreshed()]).toEqual([3_000, 0]);
});
