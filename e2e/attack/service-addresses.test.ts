/**
 * A tenant that may write Services of its own namespace gets no address and no port of the node that another
 * Service has.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ask, adminUser, arranging, asking, startPlane } from "./authorization.ts";
import { Target } from "./target.ts";

/** Each makes a few writes that may be committed together. */
const rounds = 8;
const services = "/api/v1/namespaces/default/services";
let plane: ControlPlane;
let arrange: Ask;
let ask: Ask;
let victim: string;

interface Spec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly ports?: readonly { readonly nodePort?: number }[];
}

const ports = [{ port: 80 }];
const specOf = (object: Readonly<Record<string, unknown>>): Spec => object["spec"] as Spec;

beforeAll(async () => {
  plane = await startPlane();
  arrange = arranging(plane);
  ask = asking(plane, adminUser);
  const spec = { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] };
  victim = specOf((await arrange("POST", services, { metadata: { name: "victim" }, spec })).object).clusterIP ?? "";
});

afterAll(() => plane[Symbol.asyncDispose]());

/** The addresses and ports of the node of all Services but the victim's. */
async function held(): Promise<readonly unknown[]> {
  const { object } = await arrange("GET", services);
  const items = object["items"] as readonly { readonly metadata: { readonly name: string }; readonly spec: Spec }[];
  const others = items.filter(({ metadata }) => !["victim", "kubernetes"].includes(metadata.name));
  return others.flatMap(({ spec }) => [spec.clusterIP, ...(spec.ports ?? []).map(({ nodePort }) => nodePort)]);
}

test("not by a Service that has no address at first", async () => {
  const metadata = { name: "alias" };
  const external = { type: "ExternalName", externalName: "a.example", clusterIP: victim, clusterIPs: [victim], ports };
  expect((await ask("POST", services, { metadata, spec: external })).code).toBe(422);
  const { clusterIP: _, clusterIPs: __, ...plain } = external;
  expect((await ask("POST", services, { metadata, spec: plain })).code).toBe(201);
  await ask("PATCH", `${services}/alias`, { spec: { clusterIP: victim } });
  expect(await held()).not.toContain(victim);
  await ask("PATCH", `${services}/alias`, { spec: { type: "ClusterIP", externalName: null, clusterIP: victim } });
  expect(await held()).not.toContain(victim);
  await ask("PATCH", `${services}/alias`, { spec: { type: "ClusterIP", externalName: null } });
  expect((await held())[0]).toMatch(/^127\./);
  expect(await held()).not.toContain(victim);
});

test.each([
  ["zeros", (parts: readonly string[]) => parts.map((part) => `0${part}`)],
  ["hexadecimal numbers", (parts: readonly string[]) => parts.map((part) => `0x${Number(part).toString(16)}`)],
  ["exponents", (parts: readonly string[]) => parts.map((part) => `${part}e0`)],
  ["spaces", (parts: readonly string[]) => parts.map((part) => ` ${part}`)],
])("not by writing the address with %s", async (what, write) => {
  const clusterIP = write(victim.split(".")).join(".");
  const name = `other-${what.split(" ")[0]}`;
  const { code, message } = await ask("POST", services, { metadata: { name }, spec: { clusterIP, ports } });
  expect([code, message]).toEqual([422, expect.stringMatching(/must be a valid IP address|must not have leading 0s/)]);
});

test("not as a port of a load balancer that allocates none", async () => {
  const balancer = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false };
  for (const nodePort of [30_080, 22]) {
    const spec = { ...balancer, ports: [{ port: 80, nodePort }] };
    expect((await ask("POST", services, { metadata: { name: `balancer-${nodePort}` }, spec })).code).toBe(422);
  }
  const { code } = await ask("POST", services, { metadata: { name: "balancer" }, spec: { ...balancer, ports } });
  expect(code).toBe(201);
});

test("not by asking for it at the same moment, before the first one is on disk", async () => {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-attack-services-"));
  try {
    await using target = await Target.start({ directory });
    const { body } = await target.raw({ path: `${services}/kubernetes`, as: "admin" });
    const [first, second, third] = specOf(JSON.parse(body) as Record<string, unknown>).clusterIP?.split(".") ?? [];
    for (let round = 0; round < rounds; round++) {
      const clusterIP = [first, second, third, 100 + round].join(".");
      const nodePort = 31_000 + round;
      const statuses = await Promise.all(
        ["a", "b", "c"].map(async (name) => {
          const spec = { type: "NodePort", clusterIP, ports: [{ port: 80, nodePort }] };
          const service = { apiVersion: "v1", kind: "Service", metadata: { name: `${name}${round}` }, spec };
          const headers = { "content-type": "application/json" };
          const request = { method: "POST", path: services, headers, body: JSON.stringify(service), as: "admin" };
          return (await target.raw(request)).status;
        }),
      );
      expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 422, 422]);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("not as two equal ports of one Service", async () => {
  const twice = [
    { name: "a", port: 80 },
    { name: "b", port: 80 },
  ];
  const spec = { ports: twice };
  const { code, message } = await ask("POST", services, { metadata: { name: "twice" }, spec });
  expect([code, message]).toEqual([422, expect.stringContaining("spec.ports[1]: Duplicate value")]);
  const udp = { ports: [twice[0], { name: "b", port: 80, protocol: "UDP" }] };
  expect((await ask("POST", services, { metadata: { name: "twice" }, spec: udp })).code).toBe(201);
});

test("not by a second address", async () => {
  const spec = { clusterIP: "None", clusterIPs: ["None", victim], ports };
  const { code, message } = await ask("POST", services, { metadata: { name: "second" }, spec });
  expect([code, message]).toEqual([422, expect.stringContaining("spec.clusterIPs")]);
});
