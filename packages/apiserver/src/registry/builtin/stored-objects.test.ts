import { readFileSync } from "node:fs";
import type { ApiResponse, UnstructuredObject } from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { defaultAdmission } from "../../admission/default-admission.ts";
import { createApiServer } from "../../assembly/api-server.ts";
import { decodeProtobuf } from "../protobuf/decode-protobuf.ts";
import { createMemoryStorage } from "../../storage/memory-storage.ts";
import { bootstrap } from "../../assembly/bootstrap.ts";
import { builtinEndpoints } from "../../assembly/builtin-endpoints.ts";
import { builtinResources } from "./builtin-resources.ts";
import { isJsonObject, objectAt, textOf } from "../json-fields.ts";

interface Recorded {
  readonly manifest: UnstructuredObject;
  /** What a real server stored for the manifest. */
  readonly stored: UnstructuredObject;
}

function fixture<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as T;
}

const recorded = fixture<readonly Recorded[]>("./fixtures/stored-objects.json");
const bodies = fixture<readonly { readonly request: string; readonly body: string }[]>(
  "../protobuf/fixtures/kubectl-bodies.json",
);

async function startServer() {
  const random = seededRandom(1);
  const clock = new VirtualClock(random);
  const host = { clock, random, log: silentLogger, metrics: noMetrics };
  const storage = createMemoryStorage({ clock, log: silentLogger });
  const server = createApiServer({ host, storage, builtin: builtinResources(), admission: defaultAdmission() });
  server.addEndpoints(builtinEndpoints({ host, storage, reader: server.reader }));
  server.bodyDecoders.set("application/vnd.kubernetes.protobuf", decodeProtobuf);
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  const send = async (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    type = "application/json",
  ) => {
    const response: ApiResponse = await transport.send({ method, path, body, headers: { "content-type": type } });
    if (response.kind !== "object") throw new Error(`no object at ${path}`);
    return { code: response.status, object: response.object as UnstructuredObject };
  };
  await send("POST", "/api/v1/namespaces/default/serviceaccounts", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default" },
  });
  return { send, clock };
}

function pathOf({ apiVersion, kind }: UnstructuredObject, namespace = "default"): string {
  const definition = builtinResources().find(
    (each) => each.kind === kind && apiVersion === (each.group === "" ? each.version : `${each.group}/${each.version}`),
  );
  if (definition === undefined) throw new Error(`no ${kind}`);
  const root = definition.group === "" ? "/api/v1" : `/apis/${apiVersion}`;
  return `${root}${definition.namespaced ? `/namespaces/${namespace}` : ""}/${definition.resource}`;
}

/** Replaces what differs from server to server: addresses, random names, uids, times. */
function masked(value: unknown, field = ""): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, field));
  if (isJsonObject(value)) {
    const hidden = new Set(["uid", "resourceVersion", "creationTimestamp", "managedFields"]);
    const entries = Object.entries(value).filter(([key]) => !hidden.has(key));
    return Object.fromEntries(entries.map(([key, each]) => [key, masked(each, key)]));
  }
  if (["clusterIP", "clusterIPs"].includes(field) && value !== "None") return "<address>";
  if (field === "nodePort") return "<port>";
  if (field.endsWith("controller-uid") || field === "lastPhaseTransitionTime") return "<uid or time>";
  return typeof value === "string" ? value.replace(/^kube-api-access-.{5}$/, "kube-api-access-<random>") : value;
}

test.each(recorded.map((each) => [`${each.manifest.kind} ${each.manifest.metadata.name ?? ""}`, each] as const))(
  "%s is stored as a real server stores it",
  async (_, { manifest, stored }) => {
    const { send } = await startServer();
    const { code, object } = await send("POST", pathOf(manifest), manifest);
    expect([code, masked(object)]).toEqual([201, masked(stored)]);
  },
);

test("what kubectl create sends as protobuf is created", async () => {
  const { send } = await startServer();
  const created = bodies.filter(
    ({ request }) =>
      !request.includes("authorization.k8s.io/v1/self") &&
      !request.includes("authentication") &&
      !request.endsWith("/token"),
  );
  for (const { request, body } of created) {
    const path = request.slice("POST ".length);
    const answer = await send("POST", path, Buffer.from(body, "base64"), "application/vnd.kubernetes.protobuf");
    expect([path, answer.code, JSON.stringify(answer.code === 201 ? "" : answer.object)]).toEqual([path, 201, '""']);
  }
  const { object } = await send("GET", "/apis/apps/v1/namespaces/rec/deployments/d1");
  expect(objectAt(object, "spec")["replicas"]).toBe(0);
});

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", image: "nginx" }] },
});

test("a pod is bound once", async () => {
  const { send } = await startServer();
  await send("POST", "/api/v1/namespaces/default/pods", pod("web"));
  const binding = (node: string) => ({
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "web" },
    target: { kind: "Node", name: node },
  });
  expect((await send("POST", "/api/v1/namespaces/default/pods/web/binding", binding("n1"))).code).toBe(201);
  const second = await send("POST", "/api/v1/namespaces/default/pods/web/binding", binding("n2"));
  expect([second.code, second.object["message"]]).toEqual([
    409,
    'Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "n1"',
  ]);
});

test("a pod on a node gets its grace period, one on none goes at once", async () => {
  const { send } = await startServer();
  for (const name of ["web", "waiting"]) await send("POST", "/api/v1/namespaces/default/pods", pod(name));
  await send("POST", "/api/v1/namespaces/default/pods/web/binding", {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "web" },
    target: { kind: "Node", name: "n" },
  });
  await send("DELETE", "/api/v1/namespaces/default/pods/waiting");
  expect((await send("GET", "/api/v1/namespaces/default/pods/waiting")).code).toBe(404);
  await send("DELETE", "/api/v1/namespaces/default/pods/web");
  const { object } = await send("GET", "/api/v1/namespaces/default/pods/web");
  expect([object.metadata.deletionGracePeriodSeconds, object.metadata.generation]).toEqual([30, 2]);
});

test("a budget that allows nothing stops an eviction", async () => {
  const { send } = await startServer();
  await send("POST", "/api/v1/namespaces/default/pods", {
    ...pod("web"),
    metadata: { name: "web", labels: { app: "web" } },
  });
  const running = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
  await send("PATCH", "/api/v1/namespaces/default/pods/web/status", running, "application/merge-patch+json");
  const budget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
  };
  await send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget);
  const evict = () =>
    send("POST", "/api/v1/namespaces/default/pods/web/eviction", {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "web" },
    });
  const refused = await evict();
  expect([refused.code, refused.object["message"]]).toEqual([
    429,
    "Cannot evict pod as it would violate the pod's disruption budget.",
  ]);
  await send(
    "PATCH",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
    { status: { disruptionsAllowed: 1, observedGeneration: 1 } },
    "application/merge-patch+json",
  );
  expect((await evict()).code).toBe(201);
});

test("a namespace ends when its last finalizer is taken", async () => {
  const { send } = await startServer();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
  await send("POST", "/api/v1/namespaces", namespace);
  const deleted = await send("DELETE", "/api/v1/namespaces/team");
  expect(objectAt(deleted.object, "status")["phase"]).toBe("Terminating");
  const refused = await send("POST", "/api/v1/namespaces/team/configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c" },
  });
  expect([refused.code, refused.object["message"]]).toEqual([
    403,
    'configmaps "c" is forbidden: unable to create new content in namespace team because it is being terminated',
  ]);
  expect((await send("PUT", "/api/v1/namespaces/team/finalize", { ...namespace, spec: { finalizers: [] } })).code).toBe(
    200,
  );
  expect((await send("GET", "/api/v1/namespaces/team")).code).toBe(404);
});

test.each([
  [
    "the image of a pod may change",
    "/api/v1/namespaces/default/pods/web",
    { spec: { containers: [{ name: "c", image: "b" }] } },
    200,
    "",
  ],
  [
    "the volumes of a pod may not",
    "/api/v1/namespaces/default/pods/web",
    { spec: { hostname: "x" } },
    422,
    "pod updates may not change fields other than",
  ],
  [
    "a Service keeps its address",
    "/api/v1/namespaces/default/services/web",
    { spec: { clusterIP: "127.96.7.7" } },
    422,
    "may not change once set",
  ],
])("%s", async (_, path, patch, code, message) => {
  const { send } = await startServer();
  await send("POST", "/api/v1/namespaces/default/pods", pod("web"));
  await send("POST", "/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { ports: [{ port: 80 }] },
  });
  const answer = await send("PATCH", path, patch, "application/strategic-merge-patch+json");
  expect([answer.code, textOf(answer.object["message"] ?? "")]).toEqual([code, expect.stringContaining(message)]);
});

test("a Job has the labels of its template, unless it has its own", async () => {
  const { send } = await startServer();
  const spec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
  const labelsOf = async (name: string, own: object, ofTemplate: object) => {
    const metadata = { name, labels: own };
    const template = { metadata: { labels: ofTemplate }, spec };
    const job = { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template } };
    const { object } = await send("POST", "/apis/batch/v1/namespaces/default/jobs", job);
    return [
      Object.keys(object.metadata.labels ?? {}),
      Object.keys(objectAt(object, "spec", "template", "metadata", "labels")),
    ];
  };
  const given = ["batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"];
  expect(await labelsOf("a", {}, {})).toEqual([given, given]);
  expect(await labelsOf("b", {}, { x: "1" })).toEqual([
    ["x", ...given],
    ["x", ...given],
  ]);
  expect(await labelsOf("c", { x: "1" }, { x: "1" })).toEqual([["x"], ["x", ...given]]);
});

test.each([
  ["10.0.0.1", 201],
  ["fe80::42:1dff:fe84:f9e2", 201],
  ["fe80:0::1", 422],
  ["FE80::1", 422],
  ["fe80::1%eth0", 422],
  ["web", 422],
])("an IPAddress is named by its address: %s", async (name, code) => {
  const { send } = await startServer();
  const parentRef = { resource: "services", name: "web", namespace: "default" };
  const address = { apiVersion: "networking.k8s.io/v1", kind: "IPAddress", metadata: { name }, spec: { parentRef } };
  expect((await send("POST", "/apis/networking.k8s.io/v1/ipaddresses", address)).code).toBe(code);
});
