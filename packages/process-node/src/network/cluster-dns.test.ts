import type { EndpointSlice, Service } from "@setpoint/api";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { connect } from "node:net";
import { simulatedHost } from "@setpoint/host/simulated";
import { systemClock } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { ClusterDns } from "./cluster-dns.ts";
import { serveDns } from "./node-dns.ts";
import { createServiceTable, type ServiceTable } from "./service-table.ts";

/** An address of the loopback network that no cluster uses. */
const address = "127.111.8.1";

const service = (name: string, spec: Service["spec"], namespace = "shop"): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace },
  spec,
});

const slice = (name: string, count: number): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: `${name}-1`, namespace: "shop", labels: { "kubernetes.io/service-name": name } },
  addressType: "IPv4",
  ports: [{ name: "sql", port: 5432 }],
  endpoints: Array.from({ length: count }, (_, i) => ({
    addresses: [`127.64.${Math.floor(i / 250)}.${(i % 250) + 2}`],
    hostname: `${name}-${i}`,
    conditions: { ready: i % 2 === 0 },
  })),
});

const table = (kubernetes = "127.96.0.1"): ServiceTable =>
  createServiceTable(
    () => [
      service("kubernetes", { clusterIP: kubernetes, ports: [{ port: 443 }] }, "default"),
      service("web", { clusterIP: "127.96.0.7", ports: [{ name: "http", port: 80 }] }),
      service("db", { clusterIP: "None" }),
      service("all", { clusterIP: "None", publishNotReadyAddresses: true }),
      service("many", { clusterIP: "None", publishNotReadyAddresses: true }),
      service("away", { type: "ExternalName", externalName: "example.com" }),
    ],
    () => [slice("db", 2), slice("all", 2), slice("many", 200)],
  );

async function resolver(port: number): Promise<Resolver> {
  const dns = new ClusterDns(table(), systemClock);
  onTestFinished(() => dns[Symbol.asyncDispose]());
  expect(await dns.listen(address, port)).toBeUndefined();
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`${address}:${port}`]);
  return resolver;
}

test("a resolver finds Services, ready endpoints, host names and ports", async () => {
  const dns = await resolver(15_301);
  expect(await dns.resolve4("web.shop.svc.cluster.local")).toEqual(["127.96.0.7"]);
  expect(await dns.resolve4("WEB.Shop.svc.cluster.local")).toEqual(["127.96.0.7"]);
  expect(await dns.resolve4("db.shop.svc.cluster.local")).toEqual(["127.64.0.2"]);
  expect(await dns.resolve4("db-0.db.shop.svc.cluster.local")).toEqual(["127.64.0.2"]);
  expect(await dns.resolve4("all-1.all.shop.svc.cluster.local")).toEqual(["127.64.0.3"]);
  expect(await dns.resolveSrv("_http._tcp.web.shop.svc.cluster.local")).toMatchObject([
    { name: "web.shop.svc.cluster.local", port: 80 },
  ]);
  expect((await dns.resolveSrv("_sql._tcp.all.shop.svc.cluster.local")).map(({ name }) => name).sort()).toEqual([
    "all-0.all.shop.svc.cluster.local",
    "all-1.all.shop.svc.cluster.local",
  ]);
  expect(await dns.resolveCname("away.shop.svc.cluster.local")).toEqual(["example.com"]);
  expect(await dns.reverse("127.96.0.7")).toEqual(["web.shop.svc.cluster.local"]);
});

test("a name that nobody has does not exist; one that has no IPv6 address has none", async () => {
  const dns = await resolver(15_302);
  await expect(dns.resolve4("nope.shop.svc.cluster.local")).rejects.toMatchObject({ code: "ENOTFOUND" });
  await expect(dns.resolve4("db-1.db.shop.svc.cluster.local")).rejects.toMatchObject({ code: "ENOTFOUND" });
  await expect(dns.resolve6("web.shop.svc.cluster.local")).rejects.toMatchObject({ code: "ENODATA" });
  await expect(dns.resolve4("example.com")).rejects.toMatchObject({ code: "EREFUSED" });
});

test("an answer that is too long for UDP comes over TCP", async () => {
  const dns = await resolver(15_303);
  expect((await dns.resolve4("many.shop.svc.cluster.local")).length).toBe(200);
});

test("what is no question is not answered and does no harm", async () => {
  const dns = await resolver(15_304);
  const socket = createSocket("udp4");
  onTestFinished(() => void socket.close());
  for (const bytes of [0, 3, 12, 40, 600]) socket.send(Buffer.alloc(bytes, 0xff), 15_304, address);
  const connection = connect(15_304, address);
  await new Promise<void>((resolve) => {
    connection.once("close", () => resolve()).on("error", () => {});
    connection.end(Buffer.from([0, 20, ...Buffer.alloc(20, 0xff)]));
  });
  expect(await dns.resolve4("web.shop.svc.cluster.local")).toEqual(["127.96.0.7"]);
});

test("a connection over which nothing is asked for ten seconds is closed", async () => {
  const { clock } = simulatedHost(1);
  const dns = new ClusterDns(table(), clock);
  onTestFinished(() => dns[Symbol.asyncDispose]());
  expect(await dns.listen(address, 15_306)).toBeUndefined();
  const connection = connect(15_306, address);
  const closed = new Promise<void>((resolve) => connection.once("close", () => resolve()));
  await new Promise<void>((resolve) => connection.once("connect", () => resolve()));
  // A turn in which the server has accepted it.
  await expect.poll(() => dns.connectionCount).toBe(1);
  await clock.run(9_000);
  expect(dns.connectionCount).toBe(1);
  await clock.run(1_000);
  await closed;
});

const place = { address, port: 15_305 };

test("an address that another node of the same cluster serves is good; that of another program is not", async () => {
  const first = new ClusterDns(table(), systemClock);
  onTestFinished(() => first[Symbol.asyncDispose]());
  expect(await serveDns(first, table(), place)).toEqual({ isServed: true });
  expect(await serveDns(new ClusterDns(table(), systemClock), table(), place)).toEqual({ isServed: true });
  const other = table("127.97.0.1");
  const second = new ClusterDns(other, systemClock);
  onTestFinished(() => second[Symbol.asyncDispose]());
  expect(await serveDns(second, other, place)).toEqual({
    isServed: false,
    problem: `another program listens on ${address}:15305, and it does not know this cluster`,
  });
  await first[Symbol.asyncDispose]();
  expect(await serveDns(second, other, place)).toEqual({ isServed: true });
});

test("one client holds few connections, and its answers wait until it reads them", async () => {
  const dns = new ClusterDns(table(), systemClock);
  onTestFinished(() => dns[Symbol.asyncDispose]());
  expect(await dns.listen(address, 15_309)).toBeUndefined();
  const sockets = Array.from({ length: 40 }, () =>
    connect(15_309, address)
      .on("error", () => {})
      .pause(),
  );
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  await expect.poll(() => dns.connectionCount).toBe(16);
  const closed = (): number => sockets.filter(({ readyState }) => readyState === "closed").length;
  sockets.forEach((socket) => socket.resume());
  await expect.poll(closed).toBe(24);
});
