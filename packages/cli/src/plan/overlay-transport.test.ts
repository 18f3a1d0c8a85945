import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, Pod, Secret } from "@setpoint/api";
import type { KubeObject, WatchFrame } from "@setpoint/apimachinery";
import {
  createClient,
  overlayTransport,
  type Client,
  type OverlayTransport,
  type PretendedWrite,
} from "@setpoint/client";
import { beforeEach, expect, test } from "vitest";
import { ownPlane } from "../own-plane.fixture.ts";

const { host, plane, client: server } = await ownPlane({ controllers: false });
const namespace = "default";
const key = (name: string): { readonly name: string; readonly namespace: string } => ({ name, namespace });
const map = (name: string, data: Record<string, string>, labels = {}): ConfigMap =>
  ConfigMap({ name, namespace, labels, data });

let overlay: OverlayTransport;
let client: Client;
let writes: PretendedWrite[];
let revision: string;

beforeEach(async () => {
  await server.deleteCollection(ConfigMap, { namespace, labelSelector: "test" });
  writes = [];
  overlay = overlayTransport(plane.transport, { ...host, onWrite: (write) => void writes.push(write) });
  client = createClient(overlay, host);
  await server.create(ConfigMap, map("real", { a: "1" }, { test: "yes" }));
  revision = (await server.list(ConfigMap, { namespace })).metadata.resourceVersion ?? "";
});

/** The server after everything: what nobody may have changed. */
async function expectUntouched(): Promise<void> {
  expect((await server.list(ConfigMap, { namespace })).metadata.resourceVersion).toBe(revision);
}

const names = async (labelSelector = "test"): Promise<readonly string[]> =>
  (await client.listAll(ConfigMap, { namespace, labelSelector })).items.map(({ metadata }) => metadata.name).toSorted();

test("creations, changes and deletions are seen by reads, and by nobody else", async () => {
  const made = await client.create(ConfigMap, map("made", { b: "1" }, { test: "yes" }));
  expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  await client.patch(ConfigMap, key("real"), { data: { a: "2" } });
  expect((await client.get(ConfigMap, key("made"))).data).toEqual({ b: "1" });
  expect((await client.get(ConfigMap, key("real"))).data).toEqual({ a: "2" });
  expect(await names()).toEqual(["made", "real"]);
  await client.delete(ConfigMap, key("real"));
  await client.delete(ConfigMap, key("made"), { preconditions: { uid: made.metadata.uid } });
  expect(await names()).toEqual([]);
  await expect(client.get(ConfigMap, key("real"))).rejects.toMatchObject({ code: 404 });
  await client.create(ConfigMap, map("real", { c: "3" }, { test: "yes" }));
  expect((await client.get(ConfigMap, key("real"))).data).toEqual({ c: "3" });
  expect(writes.map(({ verb, place }) => `${verb} ${place.name}`)).toEqual([
    "create made",
    "patch real",
    "delete real",
    "delete made",
    "create real",
  ]);
  await expectUntouched();
});

test("preconditions hold in the pretended world: a revision that was read before a pretended write is a conflict", async () => {
  const read = await client.get(ConfigMap, key("real"));
  await client.update(ConfigMap, { ...read, data: { a: "2" } });
  await expect(client.update(ConfigMap, { ...read, data: { a: "3" } })).rejects.toMatchObject({ code: 409 });
  await expect(client.delete(ConfigMap, key("real"), { preconditions: { uid: "other" } })).rejects.toMatchObject({
    code: 409,
  });
  await expect(client.create(ConfigMap, map("real", {}))).rejects.toMatchObject({ code: 409 });
  const again = await client.get(ConfigMap, key("real"));
  expect((await client.update(ConfigMap, { ...again, data: { a: "3" } })).data).toEqual({ a: "3" });
  await expectUntouched();
});

test("an apply owns its fields: what it no longer names goes, also of what is only pretended", async () => {
  const apply = (name: string, data: Record<string, string>): Promise<ConfigMap> =>
    client.apply(ConfigMap, map(name, data), { fieldManager: "me", force: true });
  await apply("applied", { a: "1", b: "1" });
  await client.patch(ConfigMap, key("applied"), { data: { other: "kept" } });
  expect((await apply("applied", { a: "2" })).data).toEqual({ a: "2", other: "kept" });
  await apply("real", { x: "1", y: "1" });
  expect((await apply("real", { x: "2" })).data).toEqual({ a: "1", x: "2" });
  const before = writes.length;
  const { resourceVersion } = (await client.get(ConfigMap, key("real"))).metadata;
  expect((await apply("real", { x: "2" })).metadata.resourceVersion).toBe(resourceVersion);
  expect(writes.length).toBe(before);
  await expectUntouched();
});

test("a second write that names the revision after the first one is not refused", async () => {
  const apply = async (name: string, data: Record<string, string>): Promise<ConfigMap> => {
    const { resourceVersion, uid } = (await client.get(ConfigMap, key(name))).metadata;
    const wanted = { ...map(name, data), metadata: { name, namespace, resourceVersion, uid } };
    return client.apply(ConfigMap, wanted, { fieldManager: "me", force: true });
  };
  await apply("real", { a: "2" });
  expect((await apply("real", { a: "3" })).data).toEqual({ a: "3" });
  // Another client writes in between: the plan's own revision is still the one that was read.
  await server.patch(ConfigMap, key("real"), { data: { other: "1" } });
  expect((await apply("real", { a: "4" })).data).toMatchObject({ a: "4" });
  await client.apply(ConfigMap, map("made", { a: "1" }), { fieldManager: "me", force: true });
  expect((await apply("made", { a: "2" })).data).toEqual({ a: "2" });
  const { resourceVersion } = (await client.get(ConfigMap, key("real"))).metadata;
  await client.delete(ConfigMap, key("real"), { preconditions: { resourceVersion } });
  expect(writes.filter(({ refused }) => refused !== undefined)).toEqual([]);
  expect(writes.every(({ isServerChecked }) => isServerChecked)).toBe(true);
});

test("a finalizer keeps what is deleted until it is taken away", async () => {
  await client.patch(ConfigMap, key("real"), { metadata: { finalizers: ["example.com/mine"] } });
  await client.delete(ConfigMap, key("real"));
  const marked = await client.get(ConfigMap, key("real"));
  expect(marked.metadata.deletionTimestamp).toBeDefined();
  await client.patch(ConfigMap, key("real"), { metadata: { finalizers: [] } });
  await expect(client.get(ConfigMap, key("real"))).rejects.toMatchObject({ code: 404 });
  await expectUntouched();
});

/** What a watch tells while something is done, up to the object of this name and field. */
async function watched(last: string, act: () => Promise<unknown>, labelSelector = "test"): Promise<readonly string[]> {
  const ending = new AbortController();
  const told: string[] = [];
  const frames = await client.watch(ConfigMap, {
    namespace,
    labelSelector,
    sendInitialEvents: true,
    signal: ending.signal,
  });
  let newest = 0n;
  for await (const frame of frames as AsyncIterable<WatchFrame>) {
    const object = frame.object as ConfigMap;
    const revision = BigInt(object.metadata.resourceVersion ?? "0");
    // Streams begin with what there is, in any order; after that revisions only grow.
    if (told.includes("BOOKMARK")) expect(revision).toBeGreaterThanOrEqual(newest);
    newest = revision;
    const text = `${frame.type} ${object.metadata.name ?? ""} ${object.data?.["a"] ?? ""}`.trim();
    told.push(text);
    if (text === "BOOKMARK") void act();
    if (text === last) break;
  }
  ending.abort();
  return told;
}

test("a watch tells pretended writes among the server's, with revisions that only grow", async () => {
  await client.create(ConfigMap, map("before", { a: "0" }, { test: "yes" }));
  const told = await watched("DELETED before 0", async () => {
    await client.patch(ConfigMap, key("real"), { data: { a: "2" } });
    await server.create(ConfigMap, map("others", { a: "5" }, { test: "yes" }));
    await client.create(ConfigMap, map("made", { a: "3" }, { test: "yes" }));
    await client.patch(ConfigMap, key("made"), { metadata: { labels: { test: null } } });
    await client.create(ConfigMap, map("unseen", { a: "4" }));
    await client.delete(ConfigMap, key("before"));
  });
  expect(told.slice(0, 3)).toEqual(["ADDED real 1", "ADDED before 0", "BOOKMARK"]);
  const rest = told.slice(3);
  expect(rest.filter((line) => line !== "ADDED others 5")).toEqual([
    "MODIFIED real 2",
    "ADDED made 3",
    "DELETED made 3",
    "DELETED before 0",
  ]);
});

test("what others change meanwhile is the new ground under what is pretended", async () => {
  await client.patch(ConfigMap, key("real"), { data: { mine: "1" } });
  await watched("MODIFIED real 9", () => server.patch(ConfigMap, key("real"), { data: { a: "9" } }));
  expect((await client.get(ConfigMap, key("real"))).data).toEqual({ a: "9", mine: "1" });
});

test("the server fills in and refuses as it would in earnest", async () => {
  const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "a", image: "a" }] } };
  const made = await client.create(
    Deployment,
    Deployment({ ...key("web"), spec: { selector: { matchLabels: { app: "a" } }, template } }),
  );
  expect(made.spec?.replicas).toBe(1);
  await expect(client.create(ConfigMap, map("Not a name", {}))).rejects.toMatchObject({ code: 422 });
  expect(writes.at(-1)?.refused?.reason).toBe("Invalid");
  await client.scale(Deployment, key("web"), 3).catch(() => {});
  expect(writes.every(({ isServerChecked }) => isServerChecked)).toBe(true);
  await expect(server.get(Deployment, key("web"))).rejects.toMatchObject({ code: 404 });
});

test("deleting a collection takes what matches, the pretended too", async () => {
  await client.create(ConfigMap, map("made", {}, { test: "yes" }));
  await client.create(ConfigMap, map("other", {}, { other: "yes" }));
  await client.deleteCollection(ConfigMap, { namespace, labelSelector: "test" });
  expect(await names()).toEqual([]);
  expect(await names("other")).toEqual(["other"]);
  await expectUntouched();
});

test("objects of a namespace that is only pretended can be pretended", async () => {
  await client.create(Namespace, Namespace({ name: "fresh" }));
  await client.create(Secret, Secret({ name: "s", namespace: "fresh", stringData: { a: "b" } }));
  expect((await client.listAll(Secret, { namespace: "fresh" })).items.map(({ metadata }) => metadata.name)).toEqual([
    "s",
  ]);
  expect(writes.at(-1)?.isServerChecked).toBe(false);
});

test("what acts on running things is refused, and questions are asked", async () => {
  const exec = { method: "POST", path: "/api/v1/namespaces/default/pods/a/exec" } as const;
  await expect(client.request(exec)).rejects.toMatchObject({ code: 405 });
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb: "get", resource: "pods" } },
  };
  const review = { method: "POST", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body } as const;
  expect(await client.request(review)).toMatchObject({ object: { status: { allowed: true } } });
  expect((await client.list(Pod)).items).toEqual([]);
  expect((await client.list(CustomResourceDefinition)).items).toEqual([] as KubeObject[]);
});
