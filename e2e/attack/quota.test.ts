/** A tenant who tries to use more of a namespace than its quota and its limits allow. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../node/test-cluster.ts";
import { type Ask, arranging, asking, adminUser } from "./authorization.ts";

let plane: ControlPlane;
let folder: string;
let arrange: Ask;
let ask: Ask;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-quota-"));
  // On disk: writes of one moment are committed together there, and do not see each other.
  plane = await startControlPlane({ directory: folder });
  arrange = arranging(plane);
  ask = asking(plane, adminUser);
});

afterAll(async () => {
  await plane[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const at = (namespace: string, resource: string): string => `/api/v1/namespaces/${namespace}/${resource}`;

async function namespace(name: string, hard: Record<string, string>, more: object = {}): Promise<void> {
  await arrange("POST", "/api/v1/namespaces", { metadata: { name } });
  await until(`account of ${name}`, 10, async () => {
    const { code } = await ask("GET", at(name, "serviceaccounts/default"));
    return code === 200 ? true : undefined;
  });
  await arrange("POST", at(name, "resourcequotas"), { metadata: { name: "q" }, spec: { hard, ...more } });
}

function pod(name: string, requests: object = {}, limits: object = {}, more: object = {}): object {
  return {
    metadata: { name },
    spec: { containers: [{ name: "c", image: "i", resources: { requests, limits } }], ...more },
  };
}

test("many pods at one moment do not pass a quota that has room for two", async () => {
  await namespace("burst", { pods: "2" });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => ask("POST", at("burst", "pods"), pod(`p${i}`))),
  );
  expect(answers.filter(({ code }) => code === 201)).toHaveLength(2);
  expect(answers.find(({ code }) => code !== 201)?.message).toMatch(
    /^pods "p\d+" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2$/,
  );
  await arrange("DELETE", at("burst", "pods/p0"), { gracePeriodSeconds: 0 });
  expect((await ask("POST", at("burst", "pods"), pod("again"))).code).toBe(201);
});

test("a quota of CPU and memory needs every container to say what it uses, and adds them up", async () => {
  await namespace("compute", { "requests.cpu": "1", "limits.memory": "1Gi" });
  const silent = await ask("POST", at("compute", "pods"), pod("silent"));
  expect([silent.code, silent.message]).toEqual([
    403,
    'pods "silent" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
  ]);
  const half = pod("half", { cpu: "600m" }, { memory: "256Mi" });
  expect((await ask("POST", at("compute", "pods"), half)).code).toBe(201);
  const more = await ask("POST", at("compute", "pods"), pod("more", { cpu: "500m" }, { memory: "256Mi" }));
  expect(more.message).toBe(
    'pods "more" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  );
  // An init container alone may ask for more than the others together, and then counts.
  const init = {
    initContainers: [{ name: "i", image: "i", resources: { requests: { cpu: "2" }, limits: { memory: "1Mi" } } }],
  };
  expect((await ask("POST", at("compute", "pods"), pod("init", { cpu: "1m" }, { memory: "1Mi" }, init))).code).toBe(
    403,
  );
});

test("objects are counted by any way that makes them, and nothing that was only tried is", async () => {
  await namespace("counts", { configmaps: "3", "count/deployments.apps": "1", secrets: "1" });
  const maps = at("counts", "configmaps");
  for (let i = 0; i < 3; i++) await ask("POST", maps, { metadata: { name: "tried" } }, { query: { dryRun: "All" } });
  // kube-root-ca.crt is one.
  expect((await ask("POST", maps, { metadata: { name: "a" } })).code).toBe(201);
  for (let i = 0; i < 3; i++) expect((await ask("POST", maps, { metadata: { name: "a" } })).code).toBe(409);
  expect((await ask("POST", maps, { metadata: { name: "b" } })).code).toBe(201);
  const headers = { "content-type": "application/apply-patch+yaml" };
  const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
  const apply = await ask("PATCH", `${maps}/c`, applied, { headers, query: { fieldManager: "t" } });
  expect([apply.code, apply.message]).toEqual([403, expect.stringContaining("exceeded quota: q")]);
  const selector = { matchLabels: { app: "w" } };
  const template = { metadata: { labels: selector.matchLabels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const deployments = "/apis/apps/v1/namespaces/counts/deployments";
  const deployment = (name: string): object => ({ metadata: { name }, spec: { replicas: 0, selector, template } });
  expect((await ask("POST", deployments, deployment("one"))).code).toBe(201);
  expect((await ask("POST", deployments, deployment("two"))).message).toContain("requested: count/deployments.apps=1");
});

test("storage and ports of Services are limited, also when they grow later", async () => {
  await namespace("growth", { "requests.storage": "2Gi", "services.nodeports": "1" });
  const claim = (name: string, storage: string): object => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
  });
  expect((await ask("POST", at("growth", "persistentvolumeclaims"), claim("a", "1Gi"))).code).toBe(201);
  expect((await ask("POST", at("growth", "persistentvolumeclaims"), claim("b", "2Gi"))).message).toContain(
    "requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi",
  );
  const ports = [
    { port: 1, name: "a" },
    { port: 2, name: "b" },
  ];
  expect((await ask("POST", at("growth", "services"), { metadata: { name: "s" }, spec: { ports } })).code).toBe(201);
  const opened = await ask("PATCH", at("growth", "services/s"), { spec: { type: "NodePort" } });
  expect([opened.code, opened.message]).toEqual([403, expect.stringContaining("requested: services.nodeports=2")]);
});

test("a quota with a scope counts pods of the scope alone", async () => {
  await namespace("scoped", { pods: "0" }, { scopes: ["BestEffort"] });
  expect((await ask("POST", at("scoped", "pods"), pod("best"))).code).toBe(403);
  expect((await ask("POST", at("scoped", "pods"), pod("sized", { cpu: "1m" }))).code).toBe(201);
});

test("the status of a quota shows what is used", async () => {
  await until("status of the quota", 10, async () => {
    const { object } = await ask("GET", at("burst", "resourcequotas/q"));
    const { used } = (object as { readonly status?: { readonly used?: Record<string, string> } }).status ?? {};
    return used?.["pods"] === "2" ? true : undefined;
  });
});

test("a LimitRange gives defaults and refuses what is beyond its bounds", async () => {
  await namespace("ranged", { pods: "9" });
  const limits = [
    {
      type: "Container",
      default: { cpu: "200m" },
      defaultRequest: { cpu: "100m" },
      min: { cpu: "50m" },
      max: { cpu: "1" },
    },
    { type: "Pod", max: { memory: "1Gi" } },
    { type: "PersistentVolumeClaim", max: { storage: "1Gi" }, min: { storage: "1Mi" } },
  ];
  await arrange("POST", at("ranged", "limitranges"), { metadata: { name: "l" }, spec: { limits } });
  const given = await arrange("POST", at("ranged", "pods"), pod("given", { memory: "1Mi" }, { memory: "1Mi" }));
  expect(given.object).toMatchObject({
    metadata: {
      annotations: {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; cpu limit for container c",
      },
    },
    spec: { containers: [{ resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } }] },
  });
  const messageOf = async (body: object): Promise<string> => (await ask("POST", at("ranged", "pods"), body)).message;
  expect(await messageOf(pod("low", { cpu: "10m" }, { memory: "1Mi" }))).toBe(
    'pods "low" is forbidden: minimum cpu usage per Container is 50m, but request is 10m',
  );
  expect(await messageOf(pod("high", {}, { cpu: "2", memory: "1Mi" }))).toBe(
    'pods "high" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
  );
  expect(await messageOf(pod("none"))).toBe(
    'pods "none" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is specified',
  );
  const claim = {
    metadata: { name: "c" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
  };
  expect((await ask("POST", at("ranged", "persistentvolumeclaims"), claim)).message).toBe(
    'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  );
});
