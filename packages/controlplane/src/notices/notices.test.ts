import { Service } from "@setpoint/api";
import { apiVersionOf, createKind, type KubeObject } from "@setpoint/apimachinery";
import { builtinResources } from "@setpoint/apiserver";
import { createClient, type Client } from "@setpoint/client";
import { loadAuthority } from "../pki.ts";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { builtInControllers } from "../built-in-controllers.ts";
import { type ControlPlane, startControlPlane } from "../control-plane.ts";
import { kindActors, kindKey } from "./kind-actors.ts";
import type { NodeAbilities } from "./notices.ts";

const nodes: NodeAbilities = {
  podNotices: ({ hostNetwork }) => (hostNetwork === true ? ["hostNetwork has no effect: remove the field"] : []),
  provisioners: ["setpoint.dev/folder"],
};
const host = systemHost({ write: () => {} });
const planes = new Map<string, ControlPlane>();
for (const [name, options] of [
  ["up", { nodes }],
  ["bare", {}],
] as const)
  planes.set(name, await startControlPlane({ host, ...options }));
afterAll(async () => {
  for (const plane of planes.values()) await plane[Symbol.asyncDispose]();
});

const pod = { containers: [{ name: "main", image: "x" }] };
const labels = { app: "web" };
const workload = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
const backend = { service: { name: "web", port: { number: 80 } } };

const silent: readonly object[] = [
  { apiVersion: "v1", kind: "ConfigMap", data: {} },
  { apiVersion: "v1", kind: "Pod", spec: pod },
  { apiVersion: "v1", kind: "Service", spec: { ports: [{ port: 80 }] } },
  { apiVersion: "v1", kind: "Service", spec: { type: "NodePort", ports: [{ port: 80 }] } },
  { apiVersion: "apps/v1", kind: "Deployment", spec: workload },
  { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", provisioner: "setpoint.dev/folder" },
];

const noticed: readonly (readonly [sentence: string, reason: string, object: object])[] = [
  [
    "Ingress is only stored, because nothing in this cluster acts on it: install an Ingress controller",
    "NotHandled",
    { apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec: { defaultBackend: backend } },
  ],
  [
    "IngressClass is only stored",
    "NotHandled",
    { apiVersion: "networking.k8s.io/v1", kind: "IngressClass", spec: { controller: "example.com/ingress" } },
  ],
  [
    "RuntimeClass is only stored",
    "NotHandled",
    { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", handler: "gvisor" },
  ],
  [
    "CSIDriver is only stored, because nothing in this cluster acts on it: run a program that does",
    "NotHandled",
    { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", spec: {} },
  ],
  [
    'Nothing in this cluster provisions volumes as "ebs.csi.aws.com"',
    "NotImplemented",
    { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", provisioner: "ebs.csi.aws.com" },
  ],
  [
    'There is no StorageClass "fast"',
    "NotImplemented",
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      spec: {
        storageClassName: "fast",
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
      },
    },
  ],
  [
    "Nodes of this cluster mount no PersistentVolume that they did not make",
    "NotSupported",
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
    },
  ],
  [
    "This cluster has no load balancer",
    "NotImplemented",
    { apiVersion: "v1", kind: "Service", spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
  ],
  [
    'No scheduler "mine" is part of this cluster',
    "NotImplemented",
    { apiVersion: "v1", kind: "Pod", spec: { ...pod, schedulerName: "mine" } },
  ],
  ["hostNetwork has no effect", "NotSupported", { apiVersion: "v1", kind: "Pod", spec: { ...pod, hostNetwork: true } }],
  [
    "hostNetwork has no effect",
    "NotSupported",
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      spec: { ...workload, template: { ...workload.template, spec: { ...pod, hostNetwork: true } } },
    },
  ],
  [
    "hostNetwork has no effect",
    "NotSupported",
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      spec: {
        schedule: "0 0 1 1 *",
        jobTemplate: { spec: { template: { spec: { ...pod, hostNetwork: true, restartPolicy: "Never" } } } },
      },
    },
  ],
];

let count = 0;

/** Creates the object under a new name; the warnings of the answer. */
async function write(plane: string, object: object, dryRun = false): Promise<{ name: string; warnings: string }> {
  const { transport } = planes.get(plane) ?? {};
  const { apiVersion, kind } = object as KubeObject;
  const { resource, namespaced } =
    builtinResources().find((each) => apiVersionOf(each) === apiVersion && each.kind === kind) ?? {};
  const name = `it-${++count}`;
  const prefix = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const response = await transport?.send({
    method: "POST",
    path: `${prefix}/${namespaced === true ? "namespaces/default/" : ""}${resource}`,
    ...(dryRun ? { query: { dryRun: "All" } } : {}),
    body: { ...object, metadata: { name } },
  });
  expect(response).toMatchObject({ status: 201 });
  return { name, warnings: response?.headers["warning"] ?? "" };
}

interface Event extends KubeObject {
  readonly note?: string;
  readonly reason?: string;
  readonly type?: string;
  readonly series?: { readonly count: number };
}

const Event = createKind<Event>({
  ...{ group: "events.k8s.io", version: "v1", kind: "Event", plural: "events", namespaced: true },
});

const service = (type: string): object => ({
  ...{ apiVersion: "v1", kind: "Service" },
  spec: { type, ports: [{ port: 80 }] },
});

/** Each with how often it was seen. */

async function eventsOf(name: string): Promise<readonly (string | undefined)[]> {
  const client: Client = createClient(planes.get("up")?.transport ?? expect.fail(), host);
  const { items } = await client.listAll(Event, { namespace: "default" });
  const about = items.filter(({ metadata }) => metadata.name.startsWith(`${name}.`));
  return about.map(({ type, reason, note, series }) => `${series?.count ?? 1} ${type} ${reason} ${note}`);
}

test.each(noticed)("%s", async (sentence, reason, object) => {
  const { name, warnings } = await write("up", object);
  expect(warnings.replaceAll('\\"', '"')).toContain(sentence);
  await expect.poll(() => eventsOf(name)).toContainEqual(expect.stringContaining(`Warning ${reason} ${sentence}`));
});

test.each(silent)("$kind of which everything has an effect gives no notice", async (object) => {
  expect((await write("up", object)).warnings).toBe("");
});

test.each(noticed)("the bare API server does not warn: %s", async (_sentence, _reason, object) => {
  expect((await write("bare", object)).warnings).toBe("");
});

test("a dry run warns, and writes no Event", async () => {
  const [[, , ingress] = []] = noticed;
  const { name, warnings } = await write("up", ingress ?? {}, true);
  expect(warnings).toContain("Ingress is only stored");
  const { name: next } = await write("up", ingress ?? {});
  await expect.poll(() => eventsOf(next)).toHaveLength(1);
  expect(await eventsOf(name)).toEqual([]);
});

test("an Ingress whose class exists is the business of who made the class", async () => {
  const { name } = await write("up", {
    ...{ apiVersion: "networking.k8s.io/v1", kind: "IngressClass" },
    spec: { controller: "example.com/ingress" },
  });
  const spec = { ingressClassName: name, defaultBackend: backend };
  expect((await write("up", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec })).warnings).toBe("");
});

test("a change that leaves the fields repeats no Event, and one that adds a field writes its own", async () => {
  const client = createClient(planes.get("up")?.transport ?? expect.fail(), host);
  const key = { namespace: "default", name: (await write("up", service("LoadBalancer"))).name };
  await expect.poll(() => eventsOf(key.name)).toHaveLength(1);
  await client.patch(Service, key, { metadata: { labels: { a: "b" } } });
  const late = (await write("up", service("ClusterIP"))).name;
  await client.patch(Service, { ...key, name: late }, { spec: { type: "LoadBalancer" } });
  await expect.poll(() => eventsOf(late)).toHaveLength(1);
  expect(await eventsOf(key.name)).toEqual([expect.stringMatching(/^1 Warning NotImplemented/)]);
});

test("a kind has an actor as soon as a controller for it is in the list", () => {
  const controllers = builtInControllers(loadAuthority({ clock: host.clock, random: host.random }));
  const key = kindKey("apps", "Deployment");
  expect(kindActors(controllers).get(key)).toEqual(["controller deployment"]);
  expect(kindActors(controllers.filter(({ kind }) => kind.kind !== "Deployment")).has(key)).toBe(false);
});
