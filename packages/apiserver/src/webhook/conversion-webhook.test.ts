import type { ApiResponse, UnstructuredObject, UserInfo, WatchFrame } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { serveCustomResources, withCrdStrategy } from "../assembly/serve-custom-resources.ts";
import { startServer } from "../assembly/server.fixture.ts";
import type { WebhookCaller } from "./webhook-caller.ts";

const user: UserInfo = { username: "ada", groups: [] };

type Convert = (object: Widget, apiVersion: string) => unknown;

interface Widget extends UnstructuredObject {
  readonly spec: { readonly size?: number; readonly replicas?: number };
}

/** v1beta1 calls `size` what v1, the stored version, calls `replicas`. */
const rename: Convert = ({ spec, ...object }, apiVersion) => {
  const number = spec.replicas ?? spec.size;
  return { ...object, apiVersion, spec: apiVersion.endsWith("beta1") ? { size: number } : { replicas: number } };
};

function version(name: string, field: string): object {
  const spec = {
    type: "object",
    properties: { [field]: { type: "integer" }, color: { type: "string", default: name } },
  };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return { name, served: true, storage: name === "v1", subresources: {}, schema: { openAPIV3Schema } };
}

const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [version("v1", "replicas"), version("v1beta1", "size")],
    conversion: {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://hook/convert" } },
    },
  },
};

interface Asked {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Widget[] };
}

async function world(start: Convert = rename) {
  const { host, storage, server } = startServer({ builtin: withCrdStrategy(builtinResources()) });
  let convert = start;
  const batches: number[] = [];
  const caller: WebhookCaller = {
    async call({ body }) {
      const { request } = body as unknown as Asked;
      batches.push(request.objects.length);
      const convertedObjects = request.objects.map((object) => convert(object, request.desiredAPIVersion));
      const response = { uid: request.uid, convertedObjects, result: { status: "Success" } };
      const review = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response };
      return { status: 200, text: JSON.stringify(review) };
    },
  };
  serveCustomResources(server, { host, storage, caller });
  const transport = server.transport(user);
  const send = async (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object, query = {}) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const request = { method, path, query, headers: { "content-type": type }, ...(body === undefined ? {} : { body }) };
    return transport.send(request);
  };
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  const breakWebhook = (broken: Convert): void => {
    convert = broken;
  };
  return { send, storage, batches, breakWebhook };
}

function bodyOf(answer: ApiResponse): Record<string, unknown> & { items?: readonly unknown[]; message?: string } {
  if (answer.kind !== "object") throw new Error("not an object");
  return answer.object as Record<string, unknown>;
}

const at = (apiVersion: string): string => `/apis/example.com/${apiVersion}/namespaces/default/widgets`;

function widget(apiVersion: string, name: string, spec: object): object {
  return { apiVersion: `example.com/${apiVersion}`, kind: "Widget", metadata: { name }, spec };
}

test("an object made in one version is stored in the storage version and read in any, with the defaults of that one", async () => {
  const { send, storage } = await world();
  const made = bodyOf(await send("POST", at("v1beta1"), widget("v1beta1", "w", { size: 3 })));
  expect(made["spec"]).toEqual({ size: 3 });
  const [stored] = storage.list("/example.com/widgets").objects;
  expect(stored).toMatchObject({ apiVersion: "example.com/v1", spec: { replicas: 3 } });
  expect(bodyOf(await send("GET", `${at("v1")}/w`))["spec"]).toEqual({ replicas: 3, color: "v1" });
  expect(bodyOf(await send("GET", `${at("v1beta1")}/w`))["spec"]).toEqual({ size: 3 });
});

test("a patch in another version is made on the object in that version", async () => {
  const { send } = await world();
  await send("POST", at("v1"), widget("v1", "w", { replicas: 3 }));
  expect(bodyOf(await send("PATCH", `${at("v1beta1")}/w`, { spec: { size: 5 } }))["spec"]).toMatchObject({ size: 5 });
  expect(bodyOf(await send("GET", `${at("v1")}/w`))["spec"]).toMatchObject({ replicas: 5 });
  expect((await send("DELETE", `${at("v1beta1")}/w`)).status).toBe(200);
});

test("a list is converted in one call, and once", async () => {
  const { send, batches } = await world();
  for (const name of ["a", "b", "c"]) await send("POST", at("v1"), widget("v1", name, { replicas: 1 }));
  expect(bodyOf(await send("GET", at("v1beta1"))).items).toMatchObject([
    { spec: { size: 1 } },
    { spec: { size: 1 } },
    { spec: { size: 1 } },
  ]);
  await send("GET", at("v1beta1"));
  expect(batches).toEqual([3]);
});

test("a watch shows every change in its version, in order", async () => {
  const { send } = await world();
  await send("POST", at("v1"), widget("v1", "a", { replicas: 1 }));
  const answer = await send("GET", at("v1beta1"), undefined, { watch: "true" });
  if (answer.kind !== "watch") throw new Error("not a watch");
  const frames = answer.frames[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { type, object } = (await frames.next()).value as WatchFrame;
    return `${type} ${JSON.stringify((object as unknown as Widget).spec)}`;
  };
  expect(await next()).toBe('ADDED {"size":1}');
  await send("PATCH", `${at("v1")}/a`, { spec: { replicas: 2 } });
  await send("PATCH", `${at("v1")}/a`, { spec: { replicas: 3 } });
  await send("DELETE", `${at("v1")}/a`);
  expect([await next(), await next(), await next()]).toEqual([
    'MODIFIED {"size":2}',
    'MODIFIED {"size":3}',
    'DELETED {"size":3}',
  ]);
  await frames.return?.();
});

// Recorded from kube-apiserver 1.36.3.
const named = "conversion webhook for example.com/v1, Kind=Widget";
test.each<[string, Convert, string]>([
  [
    "keeps the version",
    (object) => object,
    `${named} returned invalid object at index 0: invalid groupVersion (expected example.com/v1beta1, received example.com/v1)`,
  ],
  [
    "changes the kind",
    (object, apiVersion) => ({ ...object, apiVersion, kind: "Other" }),
    `${named} returned invalid object at index 0: invalid kind (expected Widget, received Other)`,
  ],
  [
    "changes the name",
    (object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, name: "other" } }),
    `${named} returned invalid object: must have the same name: w != other`,
  ],
])("a webhook that %s fails the read", async (_, broken, message) => {
  const { send, breakWebhook } = await world();
  await send("POST", at("v1"), widget("v1", "w", { replicas: 3 }));
  breakWebhook(broken);
  expect(bodyOf(await send("GET", `${at("v1beta1")}/w`))).toMatchObject({ code: 500, message });
  const list = bodyOf(await send("GET", at("v1beta1")));
  expect(list).toMatchObject({ code: 429, message: expect.stringContaining("storage is (re)initializing") });
  expect((await send("GET", `${at("v1")}/w`)).status).toBe(200);
});

test("of metadata only labels and annotations may be converted", async () => {
  const { send } = await world((object, apiVersion) => ({
    ...(rename(object, apiVersion) as Widget),
    metadata: { ...object.metadata, labels: { from: "hook" }, finalizers: ["example.com/never"] },
  }));
  await send("POST", at("v1"), widget("v1", "w", { replicas: 3 }));
  const { metadata } = bodyOf(await send("GET", `${at("v1beta1")}/w`)) as unknown as UnstructuredObject;
  expect(metadata.labels).toEqual({ from: "hook" });
  expect(metadata.finalizers).toBeUndefined();
});
