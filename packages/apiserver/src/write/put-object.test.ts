import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";

interface Seen {
  readonly message?: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly data?: object;
  readonly items: readonly Seen[];
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", labels: { l: "1" } },
  data: { a: "1" },
};

async function start(): Promise<ReturnType<typeof asking<Seen>>> {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const ask = asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
  await ask("POST", configMaps, configMap);
  return ask;
}

test("a body that does not say its type is of the type of the URL", async () => {
  const ask = await start();
  const made = await ask("POST", configMaps, { metadata: { name: "b" }, data: { b: "1" } });
  expect(made).toMatchObject({ code: 201, body: { apiVersion: "v1", kind: "ConfigMap", data: { b: "1" } } });
  expect((await ask("PUT", `${configMaps}/a`, { kind: "ConfigMap", metadata: { name: "a" } })).code).toBe(200);
  expect((await ask("POST", configMaps, { kind: "Secret", metadata: { name: "c" } })).code).toBe(400);
});

test("what takes the name of an object away is refused, and changes nothing", async () => {
  const ask = await start();
  const why = "the name of the object (a based on URL) was undeterminable: name must be provided";
  for (const metadata of [null, { name: null, labels: null }]) {
    const { code, body } = await ask("PATCH", `${configMaps}/a`, { metadata });
    expect([code, body.message]).toEqual([400, why]);
  }
  const put = await ask("PUT", `${configMaps}/a`, { ...configMap, metadata: {} });
  expect([put.code, put.body.message]).toEqual([400, why]);
  expect((await ask("GET", `${configMaps}/a`)).body.metadata).toMatchObject({ labels: { l: "1" } });
});

test("no write marks an object deleted", async () => {
  const ask = await start();
  const metadata = { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };
  const { code, body } = await ask("PUT", `${configMaps}/a`, { ...configMap, metadata });
  expect([code, body.message]).toEqual([
    422,
    'ConfigMap "a" is invalid: [metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable, metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable]',
  ]);
});

test.each([[[]], [[{}]]])(
  "an object whose managers were forgotten by %j has no list of them",
  async (managedFields) => {
    const ask = await start();
    const { body } = await ask("PATCH", `${configMaps}/a`, { metadata: { managedFields } });
    expect(body.metadata).not.toHaveProperty("managedFields");
  },
);

test("no write gives a deleted object other time", async () => {
  const ask = await start();
  await ask("PATCH", `${configMaps}/a`, { metadata: { finalizers: ["example.com/hold"] } });
  await ask("DELETE", `${configMaps}/a`);
  const patch = (metadata: object) => ask("PATCH", `${configMaps}/a`, { metadata });
  const { code, body } = await patch({ deletionGracePeriodSeconds: 99 });
  expect([code, body.message]).toEqual([
    422,
    'ConfigMap "a" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 99: field is immutable',
  ]);
  const same = { deletionTimestamp: null, deletionGracePeriodSeconds: null };
  expect((await patch(same)).body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
});

test("who writes the status of a Deployment makes no generation and owns no labels", async () => {
  const ask = await start();
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  const labels = { a: "b" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  await ask("POST", deployments, { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } });
  const metadata = { labels: { l: "1" }, annotations: { n: "1" } };
  const { body } = await ask("PATCH", `${deployments}/d/status`, { metadata, status: { replicas: 1 } });
  expect(body.metadata).toMatchObject({ generation: 1, annotations: { n: "1" } });
  expect(body.metadata).not.toHaveProperty("labels");
  const managers = body.metadata["managedFields"] as readonly { subresource?: string; fieldsV1: object }[];
  const ofStatus = managers.find(({ subresource }) => subresource === "status");
  expect(ofStatus?.fieldsV1).not.toHaveProperty(["f:metadata", "f:labels"]);
  expect(ofStatus?.fieldsV1).toHaveProperty(["f:metadata", "f:annotations"]);
});

test("other times of managers alone are no change", async () => {
  const ask = await start();
  const { body } = await ask("GET", `${configMaps}/a`);
  const managers = body.metadata["managedFields"] as readonly object[];
  const managedFields = managers.map((entry) => ({ ...entry, time: "2001-01-01T00:00:00Z" }));
  const same = await ask("PUT", `${configMaps}/a`, { ...body, metadata: { ...body.metadata, managedFields } });
  expect(same.body.metadata).toEqual(body.metadata);
  const changed = { ...body, metadata: { ...body.metadata, managedFields }, data: { a: "2" } };
  const { resourceVersion } = (await ask("PUT", `${configMaps}/a`, changed)).body.metadata;
  expect(resourceVersion).not.toBe(body.metadata["resourceVersion"]);
});

test("deleting a collection returns the objects as they were before", async () => {
  const ask = await start();
  const { code, body } = await ask("DELETE", configMaps, { propagationPolicy: "Foreground" });
  expect(code).toBe(200);
  const deleted = body.items.find(({ metadata }) => metadata["name"] === "a");
  expect(deleted?.metadata).not.toHaveProperty("deletionTimestamp");
  expect((await ask("GET", `${configMaps}/a`)).body.metadata).toHaveProperty("deletionTimestamp");
});

test("a collection is deleted whole, or the first refusal is the answer and ends it", async () => {
  const ask = await start();
  for (let i = 0; i < 100; i++) await ask("POST", configMaps, { metadata: { name: `n${i}` } });
  const refused = await ask("DELETE", configMaps, { preconditions: { uid: "another" } });
  expect(refused.code).toBe(409);
  expect((await ask("GET", configMaps)).body.items).toHaveLength(101);
  expect((await ask("DELETE", configMaps)).code).toBe(200);
  expect((await ask("GET", configMaps)).body.items).toEqual([]);
});

test("a wrong option is named without an object, with all that was asked", async () => {
  const ask = await start();
  const { code, body } = await ask("PUT", `${configMaps}/a`, configMap, { dryRun: ["All", "x"], fieldManager: "a\nb" });
  expect([code, body.message]).toEqual([
    422,
    'UpdateOptions.meta.k8s.io "" is invalid: [dryRun: Unsupported value: ["All","x"]: supported values: "All", fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)]',
  ]);
  expect(body).not.toHaveProperty("details.name");
});

test("a finalizer that does not say whose it is is refused where kube-apiserver looks at it", async () => {
  const ask = await start();
  const metadata = { name: "f", finalizers: ["plain"] };
  const { code, body } = await ask("POST", configMaps, { metadata });
  expect([code, body.message]).toEqual([
    422,
    'ConfigMap "f" is invalid: metadata.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
  ]);
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const lease = await ask("POST", leases, { metadata });
  expect([lease.code, lease.warning]).toEqual([201, undefined]);
});

test("a creator may say that the revision is zero, and what generation it is of a kind that has none", async () => {
  const ask = await start();
  const metadata = { name: "z", resourceVersion: "0", generation: 9 };
  const { code, body } = await ask("POST", configMaps, { metadata });
  expect([code, body.metadata]).toMatchObject([201, { generation: 9 }]);
  expect((await ask("POST", configMaps, { metadata: { name: "y", resourceVersion: "5" } })).code).toBe(500);
  const put = await ask("PATCH", `${configMaps}/z`, { metadata: { generation: 10, labels: { a: "b" } } });
  expect(put.body.metadata).toMatchObject({ generation: 9, labels: { a: "b" } });
});

test("who may add ephemeral containers, or resize, changes nothing else of a pod", async () => {
  const ask = await start();
  const pods = "/api/v1/namespaces/default/pods";
  const containers = [{ name: "c", image: "i" }];
  await ask("POST", pods, { metadata: { name: "p" }, spec: { containers } });
  const pod = (await ask("GET", `${pods}/p`)).body as Seen & { readonly spec: object };
  const metadata = { ...pod.metadata, labels: { l: "1" } };
  const spec = {
    ...pod.spec,
    containers: [{ name: "c", image: "j" }],
    ephemeralContainers: [{ name: "e", image: "i" }],
  };
  const { code, body } = await ask("PUT", `${pods}/p/ephemeralcontainers`, { ...pod, metadata, spec });
  expect([code, body]).toMatchObject([200, { spec: { containers, ephemeralContainers: [{ name: "e" }] } }]);
  expect(body.metadata).not.toHaveProperty("labels");
  const ephemeral = (ephemeralContainers: readonly object[]) =>
    ask("PUT", `${pods}/p/ephemeralcontainers`, {
      ...pod,
      metadata: { name: "p" },
      spec: { ...pod.spec, ephemeralContainers },
    });
  const [e] = (body as unknown as { spec: { ephemeralContainers: readonly object[] } }).spec.ephemeralContainers;
  const refusals: readonly (readonly [readonly object[], string])[] = [
    [[{ name: "f", image: "i" }], 'existing ephemeral containers "e" may not be removed'],
    [[{ ...e, image: "other" }], 'existing ephemeral containers "e" may not be changed'],
    [[{ ...e }, { name: "c", image: "i" }], 'spec.ephemeralContainers[1].name: Duplicate value: "c"'],
    [[{ ...e }, { name: "f", image: "i", ports: [{ containerPort: 1 }] }], "cannot be set for an Ephemeral Container"],
    [[{ ...e }, { name: "f", image: "i", targetContainerName: "no" }], 'targetContainerName: Not found: "no"'],
  ];
  for (const [list, message] of refusals)
    expect(await ephemeral(list)).toMatchObject({ code: 422, body: { message: expect.stringContaining(message) } });
  const created = { metadata: { name: "q" }, spec: { containers, ephemeralContainers: [{ name: "e", image: "i" }] } };
  const message = expect.stringContaining("spec.ephemeralContainers: Forbidden: cannot be set on create");
  expect(await ask("POST", pods, created)).toMatchObject({ code: 422, body: { message } });
  const resources = { requests: { cpu: "1" } };
  const wanted = { ...pod.spec, containers: [{ name: "c", image: "j", resources }] };
  const resized = await ask("PUT", `${pods}/p/resize`, {
    ...pod,
    metadata: { name: "p", labels: { l: "1" } },
    spec: wanted,
  });
  expect([resized.code, resized.body]).toMatchObject([200, { spec: { containers: [{ image: "i", resources }] } }]);
  expect(resized.body.metadata).not.toHaveProperty("labels");
});
