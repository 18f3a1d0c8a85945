import {
  createKind,
  failure,
  type ApiRequest,
  type ApiResponse,
  type KubeObject,
  type Transport,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Informer, type InformerOptions } from "./informer.ts";

const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });

const box = (name: string, resourceVersion: number, uid = name): KubeObject => ({
  apiVersion: "v1",
  kind: "Box",
  metadata: { name, namespace: "default", uid, resourceVersion: String(resourceVersion) },
});
const frame = (type: WatchFrame["type"], object: unknown): WatchFrame => ({ type, object });
const bookmark = (resourceVersion: number, isEnd = false): WatchFrame =>
  frame("BOOKMARK", {
    metadata: {
      resourceVersion: String(resourceVersion),
      ...(isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
    },
  });

/** Stays open and silent until the request is aborted. */
function silence(signal?: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

/** A server that answers one script after another; a script that ends with "cut" breaks, one without stays silent. */
function scripted(
  scripts: readonly (readonly (WatchFrame | "cut")[] | ApiResponse)[],
): Transport & { readonly requests: ApiRequest[] } {
  const requests: ApiRequest[] = [];
  return {
    requests,
    async send(request, signal): Promise<ApiResponse> {
      const script = scripts[requests.length] ?? [];
      requests.push(request);
      if (!Array.isArray(script)) return script as ApiResponse;
      async function* frames(): AsyncGenerator<WatchFrame> {
        for (const each of script as readonly (WatchFrame | "cut")[]) {
          if (each === "cut") throw new Error("the connection broke");
          yield each;
        }
        await silence(signal);
      }
      return { kind: "watch", status: 200, headers: {}, frames: frames() };
    },
  };
}

function start(transport: Transport, options: InformerOptions = {}) {
  const host = simulatedHost(1);
  const informer = new Informer(createClient(transport, host), host, Box, options);
  const log: string[] = [];
  const say = (what: string, { metadata }: Stored<KubeObject>): void =>
    void log.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  informer.addHandler({
    onAdd: (each) => say("add", each),
    onUpdate: (_, each) => say("update", each),
    onDelete: (each) => say("delete", each),
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  const stop = async (): Promise<void> => {
    stopper.abort(new Error("the test is over"));
    await running;
  };
  return { host, informer, log, stop };
}

test("nothing is shown of a list before it is complete", async () => {
  const transport = scripted([
    [frame("ADDED", box("a", 3)), "cut"],
    [frame("ADDED", box("a", 3)), frame("ADDED", box("b", 4)), bookmark(5, true)],
  ]);
  const { host, informer, log, stop } = start(transport);
  await host.clock.settle();
  expect(informer.isSynced).toBe(false);
  expect(log).toEqual([]);
  await host.clock.run(2_000);
  expect(informer.isSynced).toBe(true);
  expect(log).toEqual(["add a@3", "add b@4"]);
  await stop();
});

test("a cut stream resumes where it ended", async () => {
  const transport = scripted([
    [frame("ADDED", box("a", 3)), bookmark(5, true), frame("MODIFIED", box("a", 7)), bookmark(9), "cut"],
    [frame("DELETED", box("a", 10))],
  ]);
  const { host, log, stop } = start(transport);
  await host.clock.run(2_000);
  expect(transport.requests[1]?.query?.["resourceVersion"]).toBe("9");
  expect(log).toEqual(["add a@3", "update a@7", "delete a@7"]);
  await stop();
});

test("a compacted revision leads to a new list, which tells what was missed", async () => {
  const expired = frame("ERROR", failure(410, "Expired", "too old resource version: 5 (20)"));
  const transport = scripted([
    [frame("ADDED", box("a", 3)), frame("ADDED", box("b", 4)), bookmark(5, true), "cut"],
    [expired],
    [frame("ADDED", box("b", 12)), frame("ADDED", box("c", 13)), bookmark(20, true)],
  ]);
  const { host, log, stop } = start(transport);
  await host.clock.run(10_000);
  expect(log).toEqual(["add a@3", "add b@4", "update b@12", "add c@13", "delete a@3"]);
  await stop();
});

test("a repeated or older event changes nothing", async () => {
  const transport = scripted([
    [
      bookmark(5, true),
      frame("ADDED", box("a", 8)),
      frame("DELETED", box("a", 9)),
      frame("ADDED", box("a", 8)),
      frame("ADDED", box("b", 10)),
      frame("MODIFIED", box("b", 10)),
    ],
  ]);
  const { host, log, stop } = start(transport);
  await host.clock.settle();
  expect(log).toEqual(["add a@8", "delete a@8", "add b@10"]);
  await stop();
});

test("a namesake with another UID is another object", async () => {
  const transport = scripted([
    [frame("ADDED", box("a", 3, "old")), bookmark(5, true), "cut"],
    [frame("MODIFIED", box("a", 8, "new"))],
  ]);
  const { host, log, stop } = start(transport);
  await host.clock.run(2_000);
  expect(log).toEqual(["add a@3", "delete a@3", "add a@8"]);
  await stop();
});

test("a server without WatchList is listed in pages", async () => {
  const refusal: ApiResponse = {
    kind: "object",
    status: 422,
    headers: {},
    object: failure(422, "Invalid", "sendInitialEvents is forbidden for watch"),
  };
  const page = (name: string, token?: string): ApiResponse => ({
    kind: "object",
    status: 200,
    headers: {},
    object: {
      kind: "BoxList",
      apiVersion: "v1",
      metadata: { resourceVersion: "9", ...(token === undefined ? {} : { continue: token }) },
      items: [box(name, 3)],
    },
  });
  const transport = scripted([refusal, page("a", "more"), page("b"), []]);
  const { host, log, stop } = start(transport);
  await host.clock.run(2_000);
  expect(log).toEqual(["add a@3", "add b@3"]);
  expect(transport.requests[2]?.query?.["continue"]).toBe("more");
  expect(transport.requests[3]?.query?.["resourceVersion"]).toBe("9");
  await stop();
});

test("a stream that falls silent is noticed, opened again and at last listed anew", async () => {
  const transport = scripted([[frame("ADDED", box("a", 3)), bookmark(5, true)], [], [bookmark(9, true)]]);
  const { host, informer, log, stop } = start(transport);
  await host.clock.run(140_000);
  expect(transport.requests.length).toBe(1);
  await host.clock.run(160_000);
  expect(informer.silentForMs()).toBe(300_000);
  await host.clock.run(10_000);
  expect(transport.requests.map(({ query }) => query?.["sendInitialEvents"] ?? "resumed")).toEqual([
    "true",
    "resumed",
    "true",
  ]);
  expect(log).toEqual(["add a@3", "delete a@3"]);
  await stop();
});

test("a server that stays silent turns the informer stale", async () => {
  const { host, informer, stop } = start(scripted([[bookmark(5, true)]]));
  await host.clock.run(390_000);
  expect(informer.isFresh).toBe(true);
  await host.clock.run(20_000);
  expect(informer.isFresh).toBe(false);
  await stop();
});

test("a server is fresh until it has been silent for 400 s, and not before it has said anything", async () => {
  const { host, informer, stop } = start(scripted([[bookmark(5, true)]]));
  expect(informer.isFresh).toBe(false);
  await host.clock.run(399_999);
  expect(informer.isFresh).toBe(true);
  await host.clock.run(1);
  expect(informer.isFresh).toBe(false);
  await stop();
});

test.each([
  ["frozen, so that who changes one hears of it", {}, true],
  ["left as they are where that is asked for", { freeze: false }, false],
])("objects are %s", async (_, options, isFrozen) => {
  const { host, informer, stop } = start(scripted([[frame("ADDED", box("a", 3)), bookmark(5, true)]]), options);
  await host.clock.settle();
  const object = informer.store.get("default/a");
  expect([Object.isFrozen(object), Object.isFrozen(object?.metadata)]).toEqual([isFrozen, isFrozen]);
  await stop();
});

test("an informer says which part of its kind it holds", () => {
  const of = (options: InformerOptions) => {
    const host = simulatedHost(1);
    const { namespace, isSelective } = new Informer(createClient(scripted([]), host), host, Box, options);
    return [namespace, isSelective];
  };
  expect(of({})).toEqual([undefined, false]);
  expect(of({ namespace: "default" })).toEqual(["default", false]);
  expect(of({ labelSelector: "app=web" })).toEqual([undefined, true]);
  expect(of({ fieldSelector: "metadata.name=a" })).toEqual([undefined, true]);
});

test("a handler that comes late is told of what is there, and one that does not ask for it is not", async () => {
  const { host, informer, stop } = start(
    scripted([[frame("ADDED", box("a", 3)), bookmark(5, true), frame("DELETED", box("a", 6))]]),
  );
  await host.clock.settle();
  const told: string[] = [];
  informer.store.set("default/b", {
    ...box("b", 7),
    metadata: { ...box("b", 7).metadata, creationTimestamp: "" },
  } as Stored<KubeObject>);
  informer.addHandler({ onDelete: () => void told.push("never") });
  informer.addHandler({ onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`) });
  expect(told).toEqual(["add b"]);
  await stop();
});

test("a cache has seen every revision up to its newest, and none before its first list", async () => {
  const { host, informer, stop } = start(scripted([[bookmark(5, true)]]));
  expect(informer.hasSeen("0")).toBe(false);
  await host.clock.settle();
  expect(["4", "5", "6"].map((revision) => informer.hasSeen(revision))).toEqual([true, true, false]);
  await stop();
});

test("what a handler throws at a deletion is said once, and the others are told", async () => {
  const deleted = frame("DELETED", box("a", 6));
  const { host, informer, log, stop } = start(
    scripted([
      [
        frame("ADDED", box("a", 3)),
        bookmark(5, true),
        deleted,
        frame("ADDED", box("a", 7)),
        frame("DELETED", box("a", 8)),
      ],
    ]),
  );
  informer.addHandler({
    onDelete() {
      throw new Error("an author's mistake");
    },
  });
  const later: string[] = [];
  informer.addHandler({ onDelete: ({ metadata }) => void later.push(metadata.name) });
  await host.clock.settle();
  expect(log).toEqual(["add a@3", "delete a@3", "add a@7", "delete a@7"]);
  expect(later).toEqual(["a", "a"]);
  const errors = host.lines.filter(({ level }) => level === "error");
  expect(errors.map(({ message }) => message)).toEqual(["Handler of an informer threw, which is said once"]);
  await stop();
});

test("whoever waits for a cache hears when its first list is complete, and then of each change until he has enough", async () => {
  const { host, informer, stop } = start(
    scripted([
      [frame("ADDED", box("a", 3)), "cut"],
      [bookmark(5, true), frame("ADDED", box("b", 6)), bookmark(7)],
    ]),
  );
  let isSynced = false;
  void informer.synced.then(() => (isSynced = true));
  const heard: boolean[] = [];
  const end = informer.onProgress(() => {
    heard.push(informer.hasSeen("6"));
    if (heard.length === 2) end();
  });
  await host.clock.settle();
  expect([isSynced, heard]).toEqual([false, []]);
  await host.clock.run(2_000);
  expect([isSynced, heard]).toEqual([true, [false, true]]);
  await stop();
});

test("managed fields, which are half of an object and which nobody reads, are not kept", async () => {
  const managed = { ...box("a", 3), metadata: { ...box("a", 3).metadata, managedFields: [{ manager: "somebody" }] } };
  const { host, informer, stop } = start(scripted([[frame("ADDED", managed), bookmark(5, true)]]));
  await host.clock.settle();
  expect(informer.store.get("default/a")).toEqual(box("a", 3));
  await stop();
});
