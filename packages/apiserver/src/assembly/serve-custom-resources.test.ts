import type { ApiResponse, UnstructuredObject } from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, onTestFinished, test } from "vitest";
import { createApiServer } from "./api-server.ts";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { createDiscoveryEndpoints } from "./discovery/discovery-endpoints.ts";
import { createMemoryStorage } from "../storage/memory-storage.ts";
import recorded from "../registry/crd/fixtures/widgets.json" with { type: "json" };
import { serveCustomResources, withCrdStrategy } from "./serve-custom-resources.ts";

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const widgets = "/apis/example.com/v1/namespaces/default/widgets";

function startServer() {
  const random = seededRandom(1);
  const clock = new VirtualClock(random);
  const host = { clock, random, log: silentLogger, metrics: noMetrics };
  const storage = createMemoryStorage({ clock, log: silentLogger });
  const server = createApiServer({ host, storage, builtin: withCrdStrategy(builtinResources()) });
  const custom = serveCustomResources(server, { host, storage });
  onTestFinished(() => custom.stop());
  server.addEndpoints(createDiscoveryEndpoints({ registry: server.registry, clock }));
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  const send = async (method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown) => {
    const response: ApiResponse = await transport.send({ method, path, ...(body === undefined ? {} : { body }) });
    const object = response.kind === "object" ? (response.object as UnstructuredObject) : undefined;
    return { code: response.status, object, response };
  };
  return { send, storage };
}

const widget = (name: string, spec: unknown, finalizers: readonly string[] = []) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, finalizers },
  spec,
});

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 40; turn++) await Promise.resolve();
};

test("an object of a CRD can be created right after the CRD, is defaulted, pruned and validated", async () => {
  const { send } = startServer();
  const created = await send("POST", crds, recorded.manifest);
  expect(created.code).toBe(201);
  expect(created.object?.["status"]).toEqual({
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    storedVersions: ["v1"],
  });
  expect((await send("GET", "/apis/example.com/v1")).code).toBe(200);
  const made = await send("POST", widgets, widget("w1", { color: "red", odd: 1 }));
  expect([made.code, made.object?.["spec"]]).toEqual([201, { color: "red", replicas: 1 }]);
  const refused = await send("POST", widgets, widget("w2", { color: "blue" }));
  expect(refused.object?.["message"]).toBe(
    'Widget.example.com "w2" is invalid: [spec.color: Unsupported value: "blue": supported values: "red", "green", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
  );
});

test("an invalid CRD is a 422 and is not served", async () => {
  const { send } = startServer();
  const { code, object } = await send("POST", crds, { ...recorded.manifest, metadata: { name: "other.example.com" } });
  expect([code, object?.["message"]]).toEqual([
    422,
    'CustomResourceDefinition.apiextensions.k8s.io "other.example.com" is invalid: metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group',
  ]);
  expect((await send("GET", widgets)).code).toBe(404);
});

test("deleting a CRD deletes its objects first and refuses new ones meanwhile", async () => {
  const { send } = startServer();
  await send("POST", crds, recorded.manifest);
  await send("POST", widgets, widget("free", {}));
  await send("POST", widgets, widget("held", {}, ["example.com/hold"]));
  const deleted = await send("DELETE", `${crds}/widgets.example.com`);
  expect(deleted.object?.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
  await settle();
  const left = (await send("GET", widgets)).object?.["items"] as readonly UnstructuredObject[];
  expect(left.map((each) => each.metadata.name)).toEqual(["held"]);
  const late = await send("POST", widgets, widget("late", {}));
  expect([late.code, late.object?.["message"]]).toEqual([
    403,
    'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
  ]);
  const held = (await send("GET", `${widgets}/held`)).object;
  await send("PUT", `${widgets}/held`, { ...held, metadata: { ...held?.metadata, finalizers: [] } });
  await settle();
  expect((await send("GET", `${crds}/widgets.example.com`)).code).toBe(404);
  expect((await send("GET", widgets)).code).toBe(404);
});

test("rules run on create and update, and a rule that compares with the past on update only", async () => {
  const { send } = startServer();
  const manifest = structuredClone(recorded.manifest) as unknown as RuledCrd;
  const schema = manifest.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
  if (schema === undefined) throw new Error("the recorded CRD has a spec");
  schema["x-kubernetes-validations"] = [
    { rule: "self.replicas < 5", message: "at most 4" },
    { rule: "self.color == oldSelf.color", message: "the color stays" },
  ];
  expect((await send("POST", crds, manifest)).code).toBe(201);
  await settle();
  const refused = await send("POST", widgets, widget("w1", { color: "red", replicas: 5 }));
  expect(refused.object?.["message"]).toBe('Widget.example.com "w1" is invalid: spec: Invalid value: at most 4');
  const made = await send("POST", widgets, widget("w1", { color: "red", replicas: 4 }));
  expect(made.code).toBe(201);
  const repainted = { ...made.object, spec: { color: "green", replicas: 4 } };
  const update = await send("PUT", `${widgets}/w1`, repainted);
  expect(update.object?.["message"]).toBe('Widget.example.com "w1" is invalid: spec: Invalid value: the color stays');
});

interface RuledCrd {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: { readonly properties: { readonly spec: Record<string, unknown> } };
      };
    }[];
  };
}

test("a CRD named like a built-in resource neither takes its place nor deletes its objects", async () => {
  const { send } = startServer();
  const group = "rbac.authorization.k8s.io";
  const roles = `/apis/${group}/v1/clusterroles`;
  expect((await send("POST", roles, { metadata: { name: "cluster-admin" }, rules: [] })).code).toBe(201);
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const versions = ["v1", "v9"].map((name) => ({ name, served: true, storage: name === "v9", schema }));
  const names = { plural: "clusterroles", singular: "clusterrole", kind: "ClusterRole", listKind: "ClusterRoleList" };
  const annotations = { "api-approved.kubernetes.io": "unapproved, experimental" };
  const made = await send("POST", crds, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `clusterroles.${group}`, annotations },
    spec: { group, scope: "Cluster", names, versions },
  });
  expect(made.code).toBe(201);
  await settle();
  const unchecked = { metadata: { name: "odd" }, rules: [{ verbs: [] }] };
  expect((await send("POST", roles, unchecked)).code).toBe(422);
  expect((await send("GET", `/apis/${group}/v9/clusterroles/cluster-admin`)).code).toBe(404);
  expect((await send("DELETE", `${crds}/clusterroles.${group}`)).code).toBe(200);
  await settle();
  expect((await send("GET", `${roles}/cluster-admin`)).code).toBe(200);
});
