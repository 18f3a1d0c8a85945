import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";

const patcher: UserInfo = { username: "patcher", groups: [] };

test("who may patch but not create cannot create by server-side apply", async () => {
  let verbs = new Set(["patch"]);
  const authorizer = { authorize: ({ verb }: { readonly verb: string }) => ({ allowed: verbs.has(verb) }) };
  const { host, storage, server } = startServer({ authorizer });
  await bootstrap({ storage, host });
  const apply = async (value: string): Promise<number> => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { value } };
    const answer = await server.transport(patcher).send({
      method: "PATCH",
      path: "/api/v1/namespaces/default/configmaps/a",
      query: { fieldManager: "me" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body,
    });
    return answer.status;
  };
  expect(await apply("1")).toBe(403);
  verbs = new Set(["patch", "create"]);
  expect(await apply("1")).toBe(201);
  verbs = new Set(["patch"]);
  expect(await apply("2")).toBe(200);
});

test("an apply that names a revision makes an object that is not there, and changes none that is at another", async () => {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const apply = async (): Promise<number> => {
    const metadata = { name: "a", resourceVersion: "1" };
    const answer = await server.transport({ username: "admin", groups: ["system:masters"] }).send({
      method: "PATCH",
      path: "/api/v1/namespaces/default/configmaps/a",
      query: { fieldManager: "me", force: "true" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value: "1" } },
    });
    return answer.status;
  };
  expect(await apply()).toBe(201);
  expect(await apply()).toBe(409);
});

test("a patch that names another UID is refused as the real server does, after the revision was compared", async () => {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const patch = async (type: string, metadata: object): Promise<unknown> => {
    const answer = await server.transport({ username: "admin", groups: ["system:masters"] }).send({
      method: "PATCH",
      path: "/api/v1/namespaces/default/configmaps/a",
      query: { fieldManager: "me" },
      headers: { "content-type": `application/${type}` },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...metadata }, data: { value: "1" } },
    });
    return answer.kind === "object" ? answer.object : undefined;
  };
  await patch("apply-patch+yaml", {});
  const uid = "00000000-0000-0000-0000-000000000000";
  const text = `Invalid value: "${uid}": field is immutable`;
  const cause = { reason: "FieldValueInvalid", field: "metadata.uid", message: text };
  for (const type of ["apply-patch+yaml", "merge-patch+json"]) {
    expect(await patch(type, { uid })).toMatchObject({
      code: 422,
      message: `ConfigMap "a" is invalid: metadata.uid: ${text}`,
      details: { causes: [cause, cause] },
    });
    expect(await patch(type, { uid, resourceVersion: "1" })).toMatchObject({ code: 409, reason: "Conflict" });
  }
});

test("a patch of a status leaves the metadata that it does not name as it is stored", async () => {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const send = asking<UnstructuredObject>(server, { username: "admin", groups: ["system:masters"] });
  const path = "/api/v1/namespaces/default/services";
  const metadata = { name: "a", labels: { app: "a" } };
  const { body: before } = await send("POST", path, { metadata, spec: { ports: [{ port: 80 }] } });
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  const { code, body: after } = await send("PATCH", `${path}/a/status`, { status });
  expect([code, after["status"]]).toEqual([200, status]);
  const { managedFields: _managers, resourceVersion: _revision, ...others } = before.metadata;
  expect(after.metadata).toMatchObject(others);
  const { uid } = before.metadata;
  const { body: named } = await send("PATCH", `${path}/a/status`, { metadata: { uid, labels: { tier: "b" } }, status });
  expect(named.metadata).toMatchObject({ ...others, labels: { app: "a", tier: "b" } });
  const { body: removed } = await send("PATCH", `${path}/a/status`, { metadata: { labels: null }, status });
  expect(removed.metadata.labels).toBeUndefined();
  const other = await send("PATCH", `${path}/a/status`, { metadata: { uid: "another" }, status });
  expect(other.code).toBe(422);
});

test("a null in a map or list is the zero that Go makes of it, and owners that stand twice are warned of", async () => {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const ask = asking<{ data?: object; metadata: object }>(server, { username: "admin", groups: ["system:masters"] });
  const path = "/api/v1/namespaces/default/configmaps";
  const metadata = { name: "a", labels: { l: null } };
  const made = await ask("POST", path, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: null, b: "b" } });
  expect(made.body).toMatchObject({ data: { a: "", b: "b" }, metadata: { labels: { l: "" } } });
  // In a merge patch it removes the key.
  expect((await ask("PATCH", `${path}/a`, { data: { b: null } })).body.data).toEqual({ a: "" });
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
  const twice = await ask("PATCH", `${path}/a`, { metadata: { ownerReferences: [owner, owner] } });
  expect(twice.body.metadata).toMatchObject({ ownerReferences: [owner] });
  expect(twice.warning).toContain("contains duplicate entries after mutating admission happens; API server dedups");
});

test("a patch of an unknown type is refused before anything is looked for, in the words of upstream's router", async () => {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  const headers = { "content-type": "application/json" };
  for (const path of [
    "/api/v1/namespaces/default/configmaps/a",
    "/apis/apps/v1/namespaces/default/deployments/a/scale",
  ])
    expect(await transport.send({ method: "PATCH", path, headers, body: {} })).toMatchObject({
      status: 415,
      object: { message: "415: Unsupported Media Type" },
    });
});
