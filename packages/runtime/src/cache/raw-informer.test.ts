import {
  createKind,
  failure,
  type ApiRequest,
  type KubeObject,
  type RawFrame,
  type RawResponse,
  type Transport,
  type WatchEventType,
} from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Informer, type InformerOptions } from "./informer.ts";

const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const encoder = new TextEncoder();

const box = (name: string, resourceVersion: number, fields: object = {}, uid = name) => ({
  metadata: {
    name,
    namespace: "default",
    uid,
    resourceVersion: String(resourceVersion),
    managedFields: [{}],
    ...fields,
  },
  data: { size: name.length },
});
const frame = (type: WatchEventType, object: unknown): RawFrame => ({
  type,
  object: encoder.encode(JSON.stringify(object)),
});
const bookmark = (resourceVersion: number, isEnd = false): RawFrame =>
  frame("BOOKMARK", {
    metadata: {
      resourceVersion: String(resourceVersion),
      ...(isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
    },
  });

type Script =
  | { readonly list: readonly object[]; readonly at: number; readonly more?: string; readonly isCut?: boolean }
  | { readonly frames: readonly (RawFrame | "cut" | "end")[] }
  | { readonly refuse: number };

function answer(script: Script, signal: AbortSignal | undefined): RawResponse {
  const head = { status: 200, headers: {} };
  if ("refuse" in script) {
    const status = failure(script.refuse, "TooManyRequests", "storage is (re)initializing", { retryAfterSeconds: 1 });
    return { ...head, status: script.refuse, kind: "object", object: status };
  }
  if ("list" in script) {
    const { list, at, more = "", isCut } = script;
    async function* batches(): AsyncGenerator<readonly Uint8Array[]> {
      for (const each of list) yield [encoder.encode(JSON.stringify(each))];
      if (isCut === true) throw new Error("the connection broke");
    }
    const metadata = { resourceVersion: String(at), continue: more };
    return { ...head, kind: "rawList", list: { batches: batches(), metadata: () => metadata } };
  }
  async function* frames(): AsyncGenerator<readonly RawFrame[]> {
    for (const each of (script as { readonly frames: readonly (RawFrame | "cut" | "end")[] }).frames) {
      if (each === "end") return;
      if (each === "cut") throw new Error("the connection broke");
      yield [each];
    }
    await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
  }
  return { ...head, kind: "rawWatch", frames: frames() };
}

function start(scripts: readonly Script[], options: InformerOptions = {}) {
  const requests: ApiRequest[] = [];
  const sendRaw = async (request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> => {
    requests.push(request);
    return answer(scripts[requests.length - 1] ?? { frames: [] }, signal);
  };
  const transport: Transport = { send: () => Promise.reject(new Error("not asked for")), sendRaw };
  const host = simulatedHost(1);
  const informer = new Informer(createClient(transport, host), host, Box, options);
  const log: string[] = [];
  const say = (what: string, { metadata }: Stored<KubeObject>): void =>
    void log.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  informer.addHandler({
    onAdd: (each) => say("add", each),
    onUpdate: (old, each) => say(`${old.metadata.resourceVersion} to`, each),
    onDelete: (each) => say("delete", each),
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  const stop = async (): Promise<void> => {
    stopper.abort(new Error("the test is over"));
    await running;
  };
  const ways = (): string[] =>
    requests.map(({ query }) =>
      query?.["watch"] === undefined
        ? query?.["limit"] === undefined
          ? "list"
          : "page"
        : query["sendInitialEvents"] === "true"
          ? "watchList"
          : "watch",
    );
  return { host, informer, log, ways, requests, stop };
}

test("a kind is listed at once and watched from the list's revision", async () => {
  const { host, informer, log, requests, ways, stop } = start([
    { list: [box("a", 3), box("b", 4)], at: 9 },
    { frames: [frame("MODIFIED", box("a", 10)), frame("DELETED", box("b", 11)), frame("ADDED", box("c", 12))] },
  ]);
  await host.clock.settle();
  expect(ways()).toEqual(["list", "watch"]);
  expect(requests[1]?.query?.["resourceVersion"]).toBe("9");
  expect(log).toEqual(["add a@3", "add b@4", "3 to a@10", "delete b@4", "add c@12"]);
  expect([...informer.store.keys()]).toEqual(["default/a", "default/c"]);
  await stop();
});

test("what is read is the whole object, with its type, without managed fields, and frozen", async () => {
  const { host, informer, stop } = start([{ list: [box("a", 3)], at: 9 }]);
  await host.clock.settle();
  const object = informer.store.get("default/a");
  expect(object).toEqual({
    apiVersion: "v1",
    kind: "Box",
    metadata: { name: "a", namespace: "default", uid: "a", resourceVersion: "3" },
    data: { size: 1 },
  });
  expect(Object.isFrozen(object?.metadata)).toBe(true);
  expect([...informer.store.values()]).toEqual([object]);
  await stop();
});

test("nothing is shown of a list before it is complete", async () => {
  const { host, informer, log, ways, stop } = start([
    { list: [box("a", 3)], at: 9, isCut: true },
    { frames: [frame("ADDED", box("a", 3)), "cut"] },
    { frames: [frame("ADDED", box("a", 3)), frame("ADDED", box("b", 4)), bookmark(9, true)] },
  ]);
  await host.clock.settle();
  expect([informer.isSynced, informer.store.size, log]).toEqual([false, 0, []]);
  await host.clock.run(5_000);
  // A list that does not come to its end may be too much for one answer.
  expect(ways()).toEqual(["list", "watchList", "watchList"]);
  expect(log).toEqual(["add a@3", "add b@4"]);
  expect(informer.isSynced).toBe(true);
  await stop();
});

test("a new list after a compaction tells what was missed and keeps what is as it was", async () => {
  const expired = frame("ERROR", failure(410, "Expired", "too old resource version: 9 (20)"));
  const { host, log, ways, stop } = start([
    { list: [box("a", 3), box("b", 4), box("c", 5, {}, "old")], at: 9 },
    { frames: [expired] },
    { list: [box("b", 4), box("c", 12, {}, "new"), box("d", 13)], at: 20 },
  ]);
  await host.clock.run(5_000);
  expect(ways()).toEqual(["list", "watch", "list", "watch"]);
  expect(log.slice(3)).toEqual(["delete c@5", "add c@12", "add d@13", "delete a@3"]);
  await stop();
});

test("a list that is older than what was seen is refused", async () => {
  const { host, informer, log, stop } = start([
    { list: [box("a", 30)], at: 30 },
    { frames: [frame("ERROR", failure(410, "Expired", "too old"))] },
    { list: [], at: 20 },
    { list: [], at: 31 },
  ]);
  await host.clock.run(900);
  expect(informer.store.has("default/a")).toBe(true);
  await host.clock.run(10_000);
  expect(log).toEqual(["add a@30", "delete a@30"]);
  await stop();
});

test("a server that fills its caches is waited for as it asks, and said to once", async () => {
  const busy: Script = { refuse: 429 };
  const { host, informer, ways, stop } = start([
    ...Array.from({ length: 40 }, () => busy),
    { list: [box("a", 3)], at: 9 },
  ]);
  await host.clock.run(120_000);
  expect(informer.isSynced).toBe(true);
  expect(new Set(ways())).toEqual(new Set(["list", "watch"]));
  const lines = host.lines.filter(({ level }) => level !== "debug");
  expect(lines.map(({ message }) => message)).toEqual(["Waiting for the server's cache"]);
  await stop();
});

test("a kind that is not served is waited for quietly, and found when it comes", async () => {
  const { host, informer, requests, stop } = start([
    ...Array.from({ length: 8 }, () => ({ refuse: 404 })),
    { list: [box("a", 3)], at: 9 },
  ]);
  await host.clock.run(60_000);
  expect(requests.length).toBeLessThan(12);
  await host.clock.run(60_000);
  expect(informer.store.size).toBe(1);
  expect(host.lines.filter(({ level }) => level === "warn")).toEqual([]);
  await stop();
});

test("pages are one list", async () => {
  const { host, log, ways, requests, stop } = start(
    [
      { list: [box("a", 3)], at: 9, more: "token" },
      { list: [box("b", 4)], at: 9 },
    ],
    { sync: "pages" },
  );
  await host.clock.settle();
  expect(ways()).toEqual(["page", "page", "watch"]);
  expect(requests[1]?.query?.["continue"]).toBe("token");
  expect(log).toEqual(["add a@3", "add b@4"]);
  await stop();
});

test("a transform says what is kept", async () => {
  const { host, informer, stop } = start(
    [{ list: [box("a", 3)], at: 9 }, { frames: [frame("MODIFIED", box("a", 10))] }],
    {
      transform: ({ apiVersion, kind, metadata }) => ({
        ...{ apiVersion, kind },
        metadata: { labels: { kept: "in part" }, ...metadata },
      }),
    },
  );
  await host.clock.settle();
  const object = informer.store.get("default/a");
  expect(object?.metadata.resourceVersion).toBe("10");
  expect(object).not.toHaveProperty("data");
  expect(informer.store.versionOf("default/a")).toEqual({ uid: "a", resourceVersion: "10" });
  await stop();
});

test("a cache of metadata alone holds objects of that type", async () => {
  const { host, informer, stop } = start([{ list: [box("a", 3)], at: 9 }], { metadataOnly: true });
  await host.clock.settle();
  expect(informer.store.get("default/a")).toMatchObject({
    apiVersion: "meta.k8s.io/v1",
    kind: "PartialObjectMetadata",
  });
  await stop();
});

test("a list that shows an older namesake of what is there changes nothing and takes no memory", async () => {
  const { host, informer, log, stop } = start([
    { list: [box("a", 8)], at: 9 },
    { frames: [] },
    { list: [box("a", 3, {}, "x")], at: 12 },
  ]);
  await host.clock.run(10_000);
  const { bytes } = informer.store;
  informer.refresh();
  await host.clock.run(1_000);
  expect([log, informer.store.bytes - bytes, informer.hasSeen("12")]).toEqual([["add a@8"], 0, true]);
  await stop();
});

test("objects are found by owner and by an author's index, as they are now", async () => {
  const ownedBy = (uid: string) => ({
    ownerReferences: [{ apiVersion: "v1", kind: "Shelf", name: uid, uid, controller: true }],
    labels: { color: uid },
  });
  const { host, informer, stop } = start([
    { list: [box("a", 3, ownedBy("red")), box("b", 4, ownedBy("red")), box("c", 5)], at: 9 },
    { frames: [frame("MODIFIED", box("a", 10, ownedBy("blue"))), frame("DELETED", box("b", 11))] },
  ]);
  informer.store.addIndex("color", ({ metadata }) => Object.values(metadata.labels ?? {}));
  await host.clock.settle();
  const names = (index: string, value: string): string[] =>
    informer.store.byIndex(index, value).map(({ metadata }) => metadata.name);
  for (const index of ["setpoint.dev/owner", "color"])
    expect([names(index, "red"), names(index, "blue")]).toEqual([[], ["a"]]);
  expect(informer.store.inNamespace("default").length).toBe(2);
  const blue = informer.store.select(({ metadata }) => metadata.labels?.["color"] === "blue", "default");
  expect(blue.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  await stop();
});

test("a handler may keep the old state and read it later", async () => {
  const olds: Stored<KubeObject>[] = [];
  const { host, informer, stop } = start([
    { list: [box("a", 3)], at: 9 },
    { frames: [frame("MODIFIED", box("a", 10))] },
  ]);
  informer.addHandler({ onUpdate: (old) => void olds.push(old) });
  await host.clock.settle();
  expect(olds[0]).toEqual({
    ...box("a", 3),
    apiVersion: "v1",
    kind: "Box",
    metadata: { ...box("a", 3).metadata, managedFields: undefined },
  });
  expect({ ...olds[0] }).toHaveProperty("data");
  expect(() => Object.assign(olds[0] ?? {}, { data: {} })).toThrow(TypeError);
  await stop();
});

test("streams that a busy server closes after a few changes are resumed at once, however often", async () => {
  const scripts = Array.from({ length: 20 }, (_, i): Script => ({
    frames: [frame("MODIFIED", box("a", 10 + i)), "end"],
  }));
  const { host, log, ways, stop } = start([{ list: [box("a", 3)], at: 9 }, ...scripts]);
  await host.clock.run(1_500);
  expect(log.at(-1)).toBe("28 to a@29");
  expect(ways().filter((way) => way === "list").length).toBe(1);
  await stop();
});

test("streams that tell nothing are opened more and more seldom", async () => {
  const { host, requests, stop } = start([
    { list: [], at: 9 },
    ...Array.from({ length: 100 }, (): Script => ({ frames: ["end"] })),
  ]);
  await host.clock.run(60_000);
  expect(requests.length).toBeLessThan(12);
  await stop();
});

test("however many ask for a new list, one is enough", async () => {
  const { host, informer, ways, stop } = start([{ list: [box("a", 3)], at: 9 }, { frames: [] }, { list: [], at: 12 }]);
  await host.clock.run(10_000);
  for (let i = 0; i < 100; i++) {
    informer.refresh();
    await host.clock.run(10);
  }
  expect(ways()).toEqual(["list", "watch", "list", "watch"]);
  expect(informer.store.size).toBe(0);
  await stop();
});

test("handlers and index functions that throw lose nobody an event, and every key keeps its own object", async () => {
  const { host, informer, log, ways, stop } = start([
    { list: [box("a", 3), box("b", 4)], at: 9 },
    { frames: [frame("MODIFIED", box("a", 10)), frame("DELETED", box("b", 11)), frame("ADDED", box("c", 12))] },
  ]);
  const broken = (): never => {
    throw new Error("an author's mistake");
  };
  informer.addHandler({ onAdd: broken, onUpdate: broken, onDelete: broken });
  const told: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`),
    onUpdate: (_, { metadata }) => void told.push(`update ${metadata.name}`),
    onDelete: ({ metadata }) => void told.push(`delete ${metadata.name}`),
  });
  informer.store.addIndex("broken", broken);
  await host.clock.settle();
  // One list and one stream: nothing broke.
  expect(ways()).toEqual(["list", "watch"]);
  expect(log).toEqual(["add a@3", "add b@4", "3 to a@10", "delete b@4", "add c@12"]);
  expect(told).toEqual(["add a", "add b", "update a", "delete b", "add c"]);
  for (const name of ["a", "c"]) expect(informer.store.get(`default/${name}`)?.metadata.name).toBe(name);
  const errors = host.lines.filter(({ level }) => level === "error");
  expect(errors.map(({ message, fields }) => [message, fields["resource"], fields["object"]])).toEqual([
    ["A function of the author threw, which is said once", "boxes", "default/a"],
    ["Handler of an informer threw, which is said once", "boxes", "default/a"],
  ]);
  await stop();
});

test("a cluster that has gone back in time is listed anew, whatever the revisions say, once it is certain", async () => {
  const expired = frame("ERROR", failure(410, "Expired", "too old resource version"));
  const gone = { list: [box("b", 40)], at: 100 };
  const { host, informer, log, ways, stop } = start([
    { list: [box("a", 50), box("b", 200), box("c", 180)], at: 200 },
    { frames: [expired] },
    ...[gone, gone, gone, gone, gone, gone, gone, gone],
    { list: [box("a", 50, { labels: { other: "yes" } }), box("b", 40)], at: 101 },
    { frames: [frame("MODIFIED", box("b", 102)), frame("MODIFIED", box("b", 103))] },
  ]);
  const restored: string[] = [];
  informer.addHandler({
    onRestored: (_, { metadata }) => void restored.push(`${metadata.name} as it was`),
    onUpdate: (_, { metadata }) => void restored.push(`${metadata.name} changed`),
  });
  expect(informer.history).toBe(0);
  await host.clock.run(40_000);
  expect([...informer.store.keys()]).toEqual(["default/a", "default/b", "default/c"]);
  expect(informer.isDoubtful).toBe(true);
  expect(informer.problem).toContain("as after a restore of etcd");
  await host.clock.run(120_000);
  expect(ways().filter((way) => way === "list").length).toBe(10);
  expect(informer.isDoubtful).toBe(false);
  expect(informer.problem).toBeUndefined();
  expect(log.slice(3)).toEqual(["50 to a@50", "200 to b@40", "delete c@180", "40 to b@102", "102 to b@103"]);
  expect(informer.history).toBe(1);
  expect(restored).toEqual(["a as it was", "b as it was", "b changed", "b changed"]);
  expect(informer.store.get("default/a")?.metadata.labels).toEqual({ other: "yes" });
  await stop();
});
