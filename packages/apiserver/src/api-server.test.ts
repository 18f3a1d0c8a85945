import { type ApiRequest, type ApiResponse, deepEqual, type Status, type UnstructuredObject, type WatchFrame } from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import type { StructuralSchema } from "@setpoint/schema";
import { expect, test } from "vitest";
import { createApiServer } from "./api-server.ts";
import type { ResourceDefinition } from "./registry/resource-definition.ts";
import { createMemoryStorage } from "./storage/memory-storage.ts";

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
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" },
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
  const send = async (request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> => transport.send(request, signal);
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
  expect(created.object.metadata).toMatchObject({ name: "w1", namespace: "default", generation: 1, resourceVersion: "2" });
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
