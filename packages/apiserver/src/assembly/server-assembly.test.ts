import { type ApiRequest, isApiError, type UnstructuredObject } from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { builtinResources, createApiServer, createMemoryStorage } from "../index.ts";

/** A server with the real table of built-in kinds. */
function startServer() {
  const random = seededRandom(1);
  const clock = new VirtualClock(random);
  const host = { clock, random, log: silentLogger, metrics: noMetrics };
  const storage = createMemoryStorage(host);
  const server = createApiServer({ host, storage, builtin: builtinResources() });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  return async (method: ApiRequest["method"], path: string, body?: unknown, contentType = "application/json") => {
    const query = contentType.includes("apply") ? { fieldManager: "me" } : {};
    const response = await transport.send({ method, path, body, query, headers: { "content-type": contentType } });
    if (response.kind !== "object") throw new Error(`a ${response.kind} answer`);
    if (isApiError(response.object)) throw response.object;
    return { code: response.status, object: response.object as UnstructuredObject };
  };
}

const apply = "application/apply-patch+yaml";
const strategic = "application/strategic-merge-patch+json";
const namespaced = "/api/v1/namespaces/default";

test("a Deployment is applied, patched strategically and scaled", async () => {
  const ask = startServer();
  const path = "/apis/apps/v1/namespaces/default/deployments/web";
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "a" }] } };
  const spec = { selector: { matchLabels: { app: "web" } }, template };
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec };
  expect((await ask("PATCH", path, body, apply)).code).toBe(201);
  const sidecar = { spec: { template: { spec: { containers: [{ name: "side", image: "b" }] } } } };
  const patched = await ask("PATCH", path, sidecar, strategic);
  expect(patched.object).toMatchObject({
    spec: { template: { spec: { containers: [{ name: "side" }, { name: "main" }] } } },
  });
  const scaled = await ask("PATCH", `${path}/scale`, { spec: { replicas: 4 } }, "application/merge-patch+json");
  expect(scaled.object).toMatchObject({ spec: { replicas: 4 }, status: { selector: "app=web" } });
  expect((await ask("GET", path)).object.metadata.generation).toBe(3);
});

test("a patch that names another type of a volume is refused, unless it says which keys stay", async () => {
  const ask = startServer();
  const path = "/apis/apps/v1/namespaces/default/deployments/web";
  const pod = { containers: [{ name: "main", image: "a" }], volumes: [{ name: "v", configMap: { name: "c" } }] };
  const template = { metadata: { labels: { app: "web" } }, spec: pod };
  const spec = { selector: { matchLabels: { app: "web" } }, template };
  await ask("PATCH", path, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec }, apply);
  const volume = { name: "v", secret: { secretName: "s" } };
  const patch = (more: object): object => ({ spec: { template: { spec: { volumes: [{ ...volume, ...more }] } } } });
  const why = "spec.template.spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type";
  expect((await ask("PATCH", path, patch({}), strategic)).object["message"]).toBe(
    `Deployment.apps "web" is invalid: ${why}`,
  );
  expect((await ask("PATCH", path, patch({ $retainKeys: ["name", "secret"] }), strategic)).code).toBe(200);
});

test("a running Pod is deleted gracefully, then at once", async () => {
  const ask = startServer();
  const spec = { nodeName: "n", containers: [{ name: "main", image: "a" }] };
  await ask("POST", `${namespaced}/pods`, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
  const marked = await ask("DELETE", `${namespaced}/pods/p`);
  expect(marked.object.metadata).toMatchObject({
    deletionTimestamp: "2026-01-01T00:00:30Z",
    deletionGracePeriodSeconds: 30,
  });
  await ask("DELETE", `${namespaced}/pods/p`, { gracePeriodSeconds: 0 });
  expect((await ask("GET", `${namespaced}/pods/p`)).code).toBe(404);
});

test("a Namespace goes when its finalizer was taken away by finalize", async () => {
  const ask = startServer();
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
  await ask("POST", "/api/v1/namespaces", body);
  expect((await ask("DELETE", namespaced)).object).toMatchObject({ status: { phase: "Terminating" } });
  expect((await ask("PUT", `${namespaced}/finalize`, { ...body, spec: {} })).code).toBe(200);
  expect((await ask("GET", namespaced)).code).toBe(404);
});

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

test("a list of a built-in kind says the type once, not with every item", async () => {
  const ask = startServer();
  await ask("POST", `${namespaced}/configmaps`, configMap);
  const { object } = await ask("GET", `${namespaced}/configmaps`);
  expect(object).toMatchObject({ kind: "ConfigMapList", items: [{ metadata: { name: "a" } }] });
  expect(Object.keys((object["items"] as object[])[0] ?? {})).toEqual(["metadata"]);
});

test("annotations of a Deployment count as a generation, labels do not", async () => {
  const ask = startServer();
  const path = "/apis/apps/v1/namespaces/default/deployments/web";
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "a" }] } };
  const spec = { selector: { matchLabels: { app: "web" } }, template };
  await ask("PATCH", path, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec }, apply);
  const merge = "application/merge-patch+json";
  const generation = async (metadata: object): Promise<unknown> =>
    (await ask("PATCH", path, { metadata }, merge)).object.metadata.generation;
  expect(await generation({ labels: { a: "b" } })).toBe(1);
  expect(await generation({ annotations: { a: "b" } })).toBe(2);
});

test("a patch moves no object to another name, and connecting to what nobody serves shows no object", async () => {
  const ask = startServer();
  await ask("POST", `${namespaced}/configmaps`, configMap);
  const merge = "application/merge-patch+json";
  const renamed = await ask("PATCH", `${namespaced}/configmaps/a`, { metadata: { name: "b" } }, merge);
  expect(renamed).toMatchObject({
    code: 400,
    object: { message: "the name of the object (b) does not match the name on the URL (a)" },
  });
  await ask("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  expect((await ask("GET", "/api/v1/nodes/n/proxy")).code).toBe(404);
});

test("a patch with an unknown field is refused in the words of kube-apiserver, which shows the patch", async () => {
  const ask = startServer();
  await ask("POST", `${namespaced}/configmaps`, configMap);
  const { object } = await ask("PATCH", `${namespaced}/configmaps/a`, { data: { a: "b", l: [1, null] } }, strategic);
  expect(object["message"]).toMatch(/^ "" is invalid: patch: Invalid value: "map\[data:map\[a:b l:\[1 <nil>\]\]\]": /);
});

test("names that every JavaScript object inherits are ordinary text in a request", async () => {
  const ask = startServer();
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, type: "constructor" };
  expect((await ask("POST", `${namespaced}/secrets`, secret)).code).toBe(201);
});

test("an apply whose apiVersion is no text is a bad request", async () => {
  const ask = startServer();
  const body = { apiVersion: false, kind: "ConfigMap", metadata: { name: "a" } };
  expect((await ask("PATCH", `${namespaced}/configmaps/a`, body, apply)).code).toBe(400);
});
