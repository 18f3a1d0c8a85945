import {
  type ApiRequest,
  type ApiResponse,
  type Status,
  type UnstructuredObject,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import type { StructuralSchema } from "@setpoint/schema";
import { expect, test } from "vitest";
import { createApiServer } from "./api-server.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { createMemoryStorage } from "../storage/memory-storage.ts";

const schema: StructuralSchema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: {
      type: "object",
      properties: { replicas: { type: "integer", default: 1 }, color: { type: "string" } },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
  },
};

const subresource = (name: string, kind: string, group: string): ResourceDefinition["subresources"][number] => ({
  name,
  kind: { group, version: "v1", kind },
  verbs: ["get", "update", "patch"],
});

const widgets: ResourceDefinition = {
  group: "example.com",
  version: "v1",
  resource: "widgets",
  singular: "widget",
  kind: "Widget",
  listKind: "WidgetList",
  namespaced: true,
  verbs: ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
  shortNames: [],
  categories: [],
  subresources: [subresource("status", "Widget", "example.com"), subresource("scale", "Scale", "autoscaling")],
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  schema,
  custom: true,
  strategy: {},
  columns: [],
  selectableFields: { "spec.color": ({ spec }) => String((spec as { color?: unknown }).color ?? "") },
  storagePrefix: "/example.com/widgets",
  storageVersion: "v1",
};

const collection = "/apis/example.com/v1/namespaces/default/widgets";
const user = { username: "admin", groups: ["system:masters"] };

/** A server, and a way to ask it that answers code and object. */
function startServer(definition: ResourceDefinition = widgets) {
  const random = seededRandom(1);
  const clock = new VirtualClock(random);
  const host = { clock, random, log: silentLogger, metrics: noMetrics };
  const storage = createMemoryStorage({ clock, log: silentLogger });
  const server = createApiServer({ host, storage, builtin: [definition] });
  const transport = server.transport(user);
  const send = async (request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> =>
    transport.send(request, signal);
  const ask = async (method: ApiRequest["method"], path: string, body?: unknown, rest: Partial<ApiRequest> = {}) => {
    const response = await send({ method, path, ...(body === undefined ? {} : { body }), ...rest });
    if (response.kind !== "object") throw new Error(`a ${response.kind} answer`);
    return { code: response.status, object: response.object as UnstructuredObject & Status, headers: response.headers };
  };
  const patch = (path: string, type: string, body: unknown, query: Record<string, string> = {}) =>
    ask("PATCH", path, body, { headers: { "content-type": type }, query });
  return { server, storage, clock, send, ask, patch };
}

const widget = (name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});

const mergeType = "application/merge-patch+json";

async function read(response: ApiResponse, count: number): Promise<WatchFrame[]> {
  if (response.kind !== "watch") throw new Error(`a ${response.kind} answer`);
  const frames: WatchFrame[] = [];
  const iterator = response.frames[Symbol.asyncIterator]();
  while (frames.length < count) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    frames.push(value);
  }
  return frames;
}

const namesOf = (frames: readonly WatchFrame[]) =>
  frames.map(({ type, object }) => `${type} ${(object as UnstructuredObject).metadata.name ?? ""}`);

test("a created object has what the server fills, and can be read, listed and deleted", async () => {
  const { ask } = startServer();
  const created = await ask("POST", collection, widget("w1"));
  expect(created.code).toBe(201);
  expect(created.object.metadata).toMatchObject({
    name: "w1",
    namespace: "default",
    generation: 1,
    resourceVersion: "2",
  });
  expect(created.object["spec"]).toEqual({ replicas: 1 });
  expect((await ask("GET", `${collection}/w1`)).object).toBe(created.object);
  const list = await ask("GET", collection);
  expect(list.object).toMatchObject({ kind: "WidgetList", metadata: { resourceVersion: "2" } });
  expect(list.object["items"]).toEqual([created.object]);
  const deleted = await ask("DELETE", `${collection}/w1`);
  expect(deleted.object).toMatchObject({ kind: "Status", status: "Success", details: { name: "w1", kind: "widgets" } });
  expect((await ask("GET", `${collection}/w1`)).object).toMatchObject({
    code: 404,
    reason: "NotFound",
    message: 'widgets.example.com "w1" not found',
  });
});

test("a watch without resourceVersion starts with the present state and goes on with what happens", async () => {
  const { ask, send } = startServer();
  await ask("POST", collection, widget("a"));
  const response = await send({ method: "GET", path: collection, query: { watch: "1" } });
  await ask("POST", collection, widget("b"));
  await ask("DELETE", `${collection}/a`);
  expect(namesOf(await read(response, 3))).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
});

test("watches of one resource share the frames", async () => {
  const { ask, send } = startServer();
  const watches = await Promise.all([1, 2].map(() => send({ method: "GET", path: collection, query: { watch: "1" } })));
  await ask("POST", collection, widget("a"));
  const [first, second] = await Promise.all(watches.map((each) => read(each, 1)));
  expect(first?.[0]).toBe(second?.[0]);
});

test("a selector that stops matching ends an object for the watch", async () => {
  const { ask, send, patch } = startServer();
  await ask("POST", collection, widget("a", {}, { labels: { app: "x" } }));
  const response = await send({ method: "GET", path: collection, query: { watch: "1", labelSelector: "app=x" } });
  await patch(`${collection}/a`, mergeType, { metadata: { labels: { app: "y" } } });
  await patch(`${collection}/a`, mergeType, { metadata: { labels: { app: "x" } } });
  const frames = await read(response, 3);
  expect(namesOf(frames)).toEqual(["ADDED a", "DELETED a", "ADDED a"]);
  expect(frames[1]?.object).toMatchObject({ metadata: { labels: { app: "x" }, resourceVersion: "3" } });
});

test("an update that changes nothing writes nothing", async () => {
  const { ask, patch, storage } = startServer();
  await ask("POST", collection, widget("a", { color: "red" }));
  const { revision } = storage;
  expect((await patch(`${collection}/a`, mergeType, { spec: { color: "red" } })).code).toBe(200);
  expect(storage.revision).toBe(revision);
});

test("the main resource keeps the status, and the status subresource keeps the rest", async () => {
  const { patch, ask } = startServer();
  await ask("POST", collection, widget("a"));
  const main = await patch(`${collection}/a`, mergeType, { spec: { replicas: 2 }, status: { replicas: 9 } });
  expect(main.object["status"]).toBeUndefined();
  expect(main.object.metadata.generation).toBe(2);
  const body = { metadata: { labels: { no: "no" } }, spec: { replicas: 7 }, status: { replicas: 2 } };
  const status = await patch(`${collection}/a/status`, mergeType, body);
  expect(status.object).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 2 }, metadata: { generation: 2 } });
  expect(status.object.metadata.labels).toBeUndefined();
});

test("a PUT with an old resourceVersion is a conflict, and one without is refused for custom kinds", async () => {
  const { ask, patch } = startServer();
  const { object } = await ask("POST", collection, widget("a"));
  await patch(`${collection}/a`, mergeType, { spec: { replicas: 3 } });
  const stale = await ask("PUT", `${collection}/a`, object);
  expect(stale.object).toMatchObject({
    code: 409,
    reason: "Conflict",
    message:
      'Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
  });
  expect((await ask("PUT", `${collection}/a`, widget("a"))).object.message).toBe(
    'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});

test("a finalizer keeps a deleted object until it is removed", async () => {
  const { ask, patch } = startServer();
  await ask("POST", collection, widget("a", {}, { finalizers: ["example.com/hold"] }));
  const marked = await ask("DELETE", `${collection}/a`, { preconditions: {} });
  expect(marked.object.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
  const more = await patch(`${collection}/a`, mergeType, {
    metadata: { finalizers: ["example.com/hold", "example.com/x"] },
  });
  expect(more.object.message).toContain('found new finalizers []string{"example.com/x"}');
  await patch(`${collection}/a`, mergeType, { metadata: { finalizers: [] } });
  expect((await ask("GET", `${collection}/a`)).code).toBe(404);
});

test("metadata that holds nothing is absent, and to say so changes nothing", async () => {
  const { ask, patch } = startServer();
  const empty = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [], managedFields: [] };
  const { object } = await ask("POST", collection, widget("a", {}, empty));
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"])
    expect(object.metadata).not.toHaveProperty(field);
  expect((await patch(`${collection}/a`, mergeType, { metadata: empty })).object).toBe(object);
});

test("a finalizer that does not say whose it is is taken on custom objects, with a warning for who adds it", async () => {
  const { ask, patch } = startServer();
  const plain = { finalizers: ["plain", "orphan"] };
  const { code, headers } = await ask("POST", collection, widget("a", {}, plain));
  expect([code, headers["warning"]]).toEqual([
    201,
    '299 - "metadata.finalizers: \\"plain\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"',
  ]);
  const labelled = await patch(`${collection}/a`, mergeType, { metadata: { labels: { a: "b" } } });
  expect(labelled.headers).not.toHaveProperty("warning");
});

test("deleting again what waits for its finalizers changes nothing, unless it is another deletion", async () => {
  const { ask } = startServer();
  await ask("POST", collection, widget("a", {}, { finalizers: ["example.com/hold"] }));
  const marked = await ask("DELETE", `${collection}/a`);
  const again = await ask("DELETE", `${collection}/a`);
  expect(again.object).toBe(marked.object);
  const foreground = await ask("DELETE", `${collection}/a`, { propagationPolicy: "Foreground" });
  expect(foreground.object.metadata.finalizers).toEqual(["example.com/hold", "foregroundDeletion"]);
  expect(foreground.object.metadata.resourceVersion).not.toBe(marked.object.metadata.resourceVersion);
});

test("a deletion with the wrong UID is refused", async () => {
  const { ask } = startServer();
  await ask("POST", collection, widget("a"));
  const { object } = await ask("DELETE", `${collection}/a`, { preconditions: { uid: "other" } });
  expect(object).toMatchObject({ code: 409, reason: "Conflict" });
  expect(object.message).toContain('on Widget.example.com "a": the UID in the precondition (other) does not match');
});

test("server-side apply creates, owns, and names the conflict", async () => {
  const { patch } = startServer();
  const type = "application/apply-patch+yaml";
  const created = await patch(`${collection}/a`, type, widget("a", { color: "red" }), { fieldManager: "one" });
  expect(created.code).toBe(201);
  const refused = await patch(`${collection}/a`, type, widget("a", { color: "blue" }), { fieldManager: "two" });
  expect(refused.object.message).toBe('Apply failed with 1 conflict: conflict with "one": .spec.color');
  const again = await patch(`${collection}/a`, type, widget("a", { color: "red" }), { fieldManager: "one" });
  expect(again.object).toBe(created.object);
});

test("unknown fields are dropped with a warning, or refused when the client is strict", async () => {
  const { ask } = startServer();
  const body = { ...widget("a"), spec: { colour: "red" } };
  const warned = await ask("POST", collection, body);
  expect(warned.headers["warning"]).toBe(String.raw`299 - "unknown field \"spec.colour\""`);
  const strict = await ask("POST", collection, body, { query: { fieldValidation: "Strict" } });
  expect(strict.object.message).toBe(
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colour"',
  );
});

test("a paged list shows one state, and goes on after a compaction if the client wants that", async () => {
  const { ask, storage } = startServer();
  for (const name of ["a", "b", "c"]) await ask("POST", collection, widget(name));
  const first = await ask("GET", collection, undefined, { query: { limit: "2" } });
  const token = String((first.object.metadata as { continue?: string }).continue);
  expect(first.object.metadata).toMatchObject({ remainingItemCount: 1, resourceVersion: "4" });
  await ask("POST", collection, widget("d"));
  const second = await ask("GET", collection, undefined, { query: { limit: "2", continue: token } });
  expect((second.object["items"] as UnstructuredObject[]).map(({ metadata }) => metadata.name)).toEqual(["c"]);
  storage.compact(storage.revision);
  await ask("POST", collection, widget("e"));
  const late = await ask("GET", collection, undefined, { query: { limit: "2", continue: token } });
  expect(late.object).toMatchObject({ code: 410, reason: "Expired" });
  const fresh = String((late.object.metadata as { continue?: string }).continue);
  const rest = await ask("GET", collection, undefined, { query: { continue: fresh } });
  expect((rest.object["items"] as UnstructuredObject[]).map(({ metadata }) => metadata.name)).toEqual(["c", "d", "e"]);
});

test("a streaming list ends its initial events with a bookmark", async () => {
  const { ask, send } = startServer();
  await ask("POST", collection, widget("a"));
  const query = {
    watch: "1",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
  };
  const frames = await read(await send({ method: "GET", path: collection, query }), 2);
  expect(frames[1]).toMatchObject({
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "2", annotations: { "k8s.io/initial-events-end": "true" } } },
  });
});

test("a watch gets bookmarks each minute and ends at its timeout", async () => {
  const { send, clock } = startServer();
  const query = { watch: "1", allowWatchBookmarks: "true", resourceVersion: "1", timeoutSeconds: "90" };
  const response = await send({ method: "GET", path: collection, query });
  const frames = read(response, 10);
  await clock.run(100_000);
  expect((await frames).map(({ type }) => type)).toEqual(["BOOKMARK", "BOOKMARK"]);
});

test("a watch from before the history gets one ERROR frame with 410", async () => {
  const { ask, send, storage } = startServer();
  await ask("POST", collection, widget("a"));
  await ask("POST", collection, widget("b"));
  storage.compact(storage.revision);
  const frames = await read(
    await send({ method: "GET", path: collection, query: { watch: "1", resourceVersion: "1" } }),
    5,
  );
  expect(frames).toMatchObject([{ type: "ERROR", object: { code: 410, reason: "Expired" } }]);
});

test("a dry run answers the object and stores nothing", async () => {
  const { ask } = startServer();
  const { code, object } = await ask("POST", collection, widget("a"), { query: { dryRun: "All" } });
  expect(code).toBe(201);
  expect(object.metadata.uid).toBeDefined();
  expect((await ask("GET", `${collection}/a`)).code).toBe(404);
});

test("scale reads and writes the replicas of its parent", async () => {
  const { ask, patch } = startServer();
  await ask("POST", collection, widget("a", { replicas: 2 }));
  const scaled = await patch(`${collection}/a/scale`, mergeType, { spec: { replicas: 5 } });
  expect(scaled.object).toMatchObject({ kind: "Scale", spec: { replicas: 5 }, status: { replicas: 0 } });
  expect((await ask("GET", `${collection}/a`)).object["spec"]).toEqual({ replicas: 5 });
});

test("tables and metadata are made when the client accepts them", async () => {
  const { ask } = startServer();
  await ask("POST", collection, widget("a"));
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  const { object } = await ask("GET", collection, undefined, { headers: { accept } });
  expect(object).toMatchObject({
    kind: "Table",
    rows: [{ cells: ["a", "0s"], object: { kind: "PartialObjectMetadata" } }],
  });
});

test("generateName finds a free name", async () => {
  const { ask } = startServer();
  const { object } = await ask("POST", collection, { ...widget(""), metadata: { generateName: "w-" } });
  expect(object.metadata.name).toMatch(/^w-[b-z2-9]{5}$/);
});

test("requests for unknown paths and resources get the messages of kube-apiserver", async () => {
  const { ask, send } = startServer();
  expect((await send({ method: "GET", path: "/apis/none/v1/things" })).kind).toBe("bytes");
  expect((await ask("GET", "/apis/example.com/v1/things")).object.message).toBe(
    "the server could not find the requested resource",
  );
  expect((await ask("PATCH", `${collection}/a`, {}, { headers: { "content-type": "text/plain" } })).code).toBe(415);
  expect((await ask("GET", collection, undefined, { headers: { accept: "text/html" } })).code).toBe(406);
  expect((await ask("POST", `${collection}/a`, {})).code).toBe(405);
});
