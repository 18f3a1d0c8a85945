import type { ApiRequest, ManagedFieldsEntry, ObjectMeta } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { startServer } from "../assembly/server.fixture.ts";

interface Answer {
  readonly code: number;
  readonly message?: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly data?: object;
  readonly spec: { readonly replicas?: number };
  readonly warning: string | undefined;
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const deployments = "/apis/apps/v1/namespaces/default/deployments";

async function start() {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  const send = async (request: ApiRequest): Promise<Answer> => {
    const answer = await transport.send(request);
    if (answer.kind !== "object") throw new Error(`a ${answer.kind} answer`);
    const object = answer.object as Omit<Answer, "code" | "warning">;
    return { ...object, code: answer.status, warning: answer.headers["warning"] };
  };
  const apply = (path: string, manager: string, body: unknown, query: ApiRequest["query"] = {}): Promise<Answer> => {
    const headers = { "content-type": "application/apply-patch+yaml" };
    return send({ method: "PATCH", path, headers, query: { fieldManager: manager, ...query }, body });
  };
  const get = (path: string): Promise<Answer> => send({ method: "GET", path });
  return { apply, get, send };
}

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "1" } };

test("an apply of another kind, or of none, changes nothing", async () => {
  const { apply, get } = await start();
  await apply(`${configMaps}/a`, "me", configMap);
  const other = await apply(`${configMaps}/a`, "me", { ...configMap, kind: "Secret" });
  expect([other.code, other.message]).toEqual([400, "invalid object type: /v1, Kind=Secret"]);
  const none = await apply(`${configMaps}/a`, "me", { metadata: { name: "a" } });
  expect([none.code, none.message]).toEqual([400, "invalid object type: /, Kind="]);
  expect(await get(`${configMaps}/a`)).toMatchObject({ kind: "ConfigMap", data: { a: "1" } });
});

test("an apply makes no object without a name of its own, and changes one without", async () => {
  const { apply } = await start();
  const { metadata: _, ...nameless } = configMap;
  const made = await apply(`${configMaps}/a`, "me", { ...nameless, metadata: { generateName: "a-" } });
  const message = "the name of the object (a based on URL) was undeterminable: name must be provided";
  expect([made.code, made.message]).toEqual([400, message]);
  await apply(`${configMaps}/a`, "me", configMap);
  expect((await apply(`${configMaps}/a`, "you", nameless)).code).toBe(200);
});

test("a null in an apply leaves the field out, and a number that does not fit is refused", async () => {
  const { apply } = await start();
  const applied = await apply(`${configMaps}/a`, "me", { ...configMap, immutable: null });
  expect(applied).not.toHaveProperty("immutable");
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
  const spec = { replicas: 1.5, selector: { matchLabels: { a: "b" } }, template };
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec };
  const refused = await apply(`${deployments}/d`, "me", body);
  expect([refused.code, refused.message]).toEqual([
    400,
    "failed to convert new object (/d; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to apps/v1, Kind=Deployment: spec.replicas: found number 1.5, expected integer",
  ]);
  const large = await apply(`${deployments}/d`, "me", { ...body, spec: { ...spec, replicas: 2_147_483_648 } });
  expect(large.code).toBe(400);
  expect(large.message).toContain("spec.replicas: found number 2147483648, expected int32");
});

const twice = new TextEncoder().encode("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: '1', b: '2'}");

test("a key that stands twice in an applied text is warned of, and refused when asked to be strict", async () => {
  const { apply } = await start();
  expect((await apply(`${configMaps}/a`, "me", twice)).warning).toContain('line 4: key \\"b\\" already set in map');
  const strict = await apply(`${configMaps}/a`, "me", twice, { fieldValidation: "Strict" });
  const why = 'yaml: unmarshal errors:\n  line 4: key "b" already set in map';
  expect([strict.code, strict.message]).toEqual([
    400,
    `error strict decoding YAML: error converting YAML to JSON: ${why}`,
  ]);
});

function owners({ metadata }: Answer): unknown {
  const ofReplicas = ({ fieldsV1 }: ManagedFieldsEntry): boolean => JSON.stringify(fieldsV1).includes("f:replicas");
  const entries = (metadata.managedFields ?? []).filter(ofReplicas);
  return entries.map(({ manager, operation, subresource = "" }) => `${manager} ${operation} ${subresource}`);
}

test("who applies to a scale conflicts with who applied the replicas, takes them by force and gives them back", async () => {
  const { apply, get } = await start();
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
  const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec };
  const path = `${deployments}/d`;
  await apply(path, "me", body);
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas: 3 } };
  const refused = await apply(`${path}/scale`, "scaler", scale);
  const why = 'Apply failed with 1 conflict: conflict with "me": .spec.replicas';
  expect([refused.code, refused.message]).toEqual([409, why]);
  expect((await get(path)).spec.replicas).toBe(1);
  expect((await apply(`${path}/scale`, "scaler", scale, { force: "true" })).spec.replicas).toBe(3);
  expect(owners(await get(path))).toEqual(["scaler Apply scale"]);
  const back = await apply(path, "me", body);
  const byScale = 'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.replicas';
  expect([back.code, back.message]).toEqual([409, byScale]);
  await apply(`${path}/scale`, "scaler", { ...scale, spec: {} });
  expect(owners(await get(path))).toEqual([]);
  const wrong = await apply(`${path}/scale`, "scaler", body);
  expect([wrong.code, wrong.message]).toEqual([400, "invalid object type: apps/v1, Kind=Deployment"]);
});

const deployment = (args: readonly unknown[]) => {
  const template = {
    metadata: { labels: { app: "a" } },
    spec: { containers: [{ name: "a", image: "a", args }] },
  };
  const spec = { selector: { matchLabels: { app: "a" } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
};

test("what is applied stays as it is, although the new object is completed", async () => {
  const { apply } = await start();
  const body = deployment(["one"]);
  const made = await apply(`${deployments}/a`, "me", body);
  expect([made.code, made.spec.replicas]).toEqual([201, 1]);
  expect(body).toEqual(deployment(["one"]));
  expect(Object.isFrozen(body.spec.template.spec.containers[0])).toBe(false);
});

test("a fault in an atomic list is named by its place", async () => {
  const { apply } = await start();
  const refused = await apply(`${deployments}/a`, "me", deployment(["one", 2]));
  expect(refused.message).toContain('.spec.template.spec.containers[name="a"].args[1]: expected string, got');
});

test("an item without its key is refused by the validation, as upstream, and two are the same key", async () => {
  const { apply } = await start();
  const { spec, ...body } = deployment([]);
  const withContainers = (...containers: readonly object[]) => ({
    ...body,
    spec: { ...spec, template: { ...spec.template, spec: { containers } } },
  });
  const one = await apply(`${deployments}/a`, "me", withContainers({ image: "i" }));
  expect(one.message).toBe('Deployment.apps "a" is invalid: spec.template.spec.containers[0].name: Required value');
  const two = await apply(`${deployments}/a`, "me", withContainers({ image: "i" }, { image: "j" }));
  expect(two.message).toMatch(/\.containers: duplicate entries for key \[name=""\]$/);
});
