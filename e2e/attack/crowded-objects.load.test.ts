/**
 * A tenant with rights in one namespace writes objects with as many entries as fit, and changes them: nobody
 * waits for seconds.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ControlPlane, startControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ask, arranging } from "./authorization.ts";

const core = "/api/v1/namespaces/default";
/** Far above what a slow machine needs, and far below what the square of these lists takes. */
const stallMsMax = 5_000;
const lookMs = 10;
/** What the controllers have to do after a write begins sooner. */
const settleMs = 1_000;
let plane: ControlPlane;
let ask: Ask;

beforeAll(async () => {
  plane = await startControlPlane({ https: {} });
  ask = arranging(plane);
  while ((await ask("GET", `${core}/serviceaccounts`).then(({ object }) => object["items"] as [])).length === 0)
    await delay(lookMs);
});

afterAll(() => plane[Symbol.asyncDispose]());

const many = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The longest time for which nothing else of the process ran. */
async function stallMs(work: () => Promise<unknown>): Promise<number> {
  let worst = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last);
    last = now;
  }, lookMs);
  await work();
  await delay(2 * lookMs);
  clearInterval(timer);
  return worst;
}

test("a Service whose ports are all replaced", async () => {
  const ports = (port: number): readonly object[] => many(5_000, (i) => ({ name: `a${i}`, port: port + i }));
  await ask("POST", `${core}/services`, { metadata: { name: "ports" }, spec: { ports: ports(1) } });
  expect(
    await stallMs(() =>
      ask("PUT", `${core}/services/ports`, { metadata: { name: "ports" }, spec: { ports: ports(5_001) } }),
    ),
  ).toBeLessThan(stallMsMax);
});

test("Endpoints of many addresses and ports, as a table", async () => {
  const addresses = many(4_000, (i) => ({ ip: `10.1.${i >> 8}.${i & 255}` }));
  const ports = many(4_000, (i) => ({ name: `a${i}`, port: 1 }));
  await ask("POST", `${core}/endpoints`, { metadata: { name: "pairs" }, subsets: [{ addresses, ports }] });
  const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  let cells: readonly unknown[] = [];
  const table = async (): Promise<void> => {
    const { object } = await ask("GET", `${core}/endpoints/pairs`, undefined, { headers });
    cells = (object as { readonly rows: readonly { readonly cells: readonly unknown[] }[] }).rows[0]?.cells ?? [];
  };
  expect(await stallMs(table)).toBeLessThan(stallMsMax);
  expect(cells[1]).toBe("10.1.0.0:1,10.1.0.1:1,10.1.0.2:1 + 15999997 more...");
});

test("finalizers that are all the same", async () => {
  const map = (finalizer: string): object => ({
    metadata: { name: "same", finalizers: many(25_000, () => finalizer) },
  });
  expect(await stallMs(() => ask("POST", `${core}/configmaps`, map("a.b/c")))).toBeLessThan(stallMsMax);
  expect(await stallMs(() => ask("PATCH", `${core}/configmaps/same`, map("a.b/d")))).toBeLessThan(stallMsMax);
});

test("finalizers of an object that is being deleted", async () => {
  const finalizers = many(25_000, (i) => `a.b/${i}`);
  const path = `${core}/configmaps/held`;
  await ask("POST", `${core}/configmaps`, { metadata: { name: "held", finalizers } });
  await ask("DELETE", path);
  const reversed = { metadata: { finalizers: finalizers.toReversed() } };
  expect(await stallMs(() => ask("PATCH", path, reversed))).toBeLessThan(stallMsMax);
  await ask("PATCH", path, { metadata: { finalizers: null } });
});

test("finalizers of a custom object that are all replaced", async () => {
  const schema = { openAPIV3Schema: { type: "object" } };
  await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.a.example" },
    spec: {
      group: "a.example",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  const things = "/apis/a.example/v1/namespaces/default/things";
  const thing = (round: number): object => ({
    apiVersion: "a.example/v1",
    kind: "Thing",
    metadata: { name: "thing", finalizers: many(25_000, (i) => `a.b/${round}-${i}`) },
  });
  while ((await ask("GET", things).catch(() => undefined)) === undefined) await delay(lookMs);
  await ask("POST", things, thing(1));
  expect(await stallMs(() => ask("PATCH", `${things}/thing`, thing(2)))).toBeLessThan(stallMsMax);
});

interface Subset {
  readonly addresses?: readonly unknown[];
}

test("a Service with many named target ports, and pods with as many ports of other names", async () => {
  const ports = many(6_000, (i) => ({ name: `a${i}`, port: 1 + i, targetPort: `x${i}` }));
  await ask("POST", `${core}/services`, { metadata: { name: "named" }, spec: { selector: { app: "named" }, ports } });
  const podIP = "10.0.0.1";
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions: [{ type: "Ready", status: "True" }] };
  const containerPorts = many(6_000, (i) => ({ name: `y${i}`, containerPort: 1 + i }));
  const spec = { containers: [{ name: "c", image: "i", ports: containerPorts }] };
  const published = async (): Promise<void> => {
    for (const name of ["one", "two"]) {
      await ask("POST", `${core}/pods`, { metadata: { name, labels: { app: "named" } }, spec });
      await ask("PATCH", `${core}/pods/${name}/status`, { status });
    }
    const endpoints = async (): Promise<readonly unknown[]> => {
      const { object } = await ask("GET", `${core}/endpoints`, undefined, {
        query: { fieldSelector: "metadata.name=named" },
      });
      const [{ subsets = [] } = {}] = object["items"] as readonly { readonly subsets?: readonly Subset[] }[];
      return subsets.flatMap(({ addresses = [] }) => addresses);
    };
    while ((await endpoints()).length < 2) await delay(lookMs);
  };
  expect(await stallMs(published)).toBeLessThan(stallMsMax);
});

test("a pod beside ReplicaSets and Services with long selectors", async () => {
  const template = { metadata: { labels: { app: "long" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const values = many(20_000, (i) => `v${i}`);
  const selector = { matchLabels: { app: "long" }, matchExpressions: [{ key: "app", operator: "NotIn", values }] };
  const names = many(15, (i) => `long${i}`);
  for (const name of names) {
    const spec = { replicas: 0, selector, template };
    await ask("POST", "/apis/apps/v1/namespaces/default/replicasets", { metadata: { name }, spec });
    const entries = many(10_000, (i) => [`a${i}`, "x"] as const);
    const service = { selector: Object.fromEntries(entries), ports: [{ port: 80 }] };
    await ask("POST", `${core}/services`, { metadata: { name }, spec: service });
  }
  await delay(settleMs);
  const metadata = { name: "beside", labels: { a0: "x" } };
  const created = async (): Promise<void> => {
    await ask("POST", `${core}/pods`, { metadata, spec: template.spec });
    await delay(settleMs);
  };
  expect(await stallMs(created)).toBeLessThan(stallMsMax);
});
