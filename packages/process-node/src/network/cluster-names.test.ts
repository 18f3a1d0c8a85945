import type { EndpointSlice, Service } from "@setpoint/api";
import { expect, test } from "vitest";
import { answerClusterName } from "./cluster-names.ts";
import { dnsTypes } from "./dns-message.ts";
import { createServiceTable } from "./service-table.ts";

const service = (name: string, spec: Service["spec"]): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "shop" },
  spec,
});
const slice: EndpointSlice = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "db-1", namespace: "shop", labels: { "kubernetes.io/service-name": "db" } },
  addressType: "IPv4",
  ports: [{ name: "sql", port: 5432 }],
  endpoints: [
    { addresses: ["127.64.0.2"], hostname: "db-0", conditions: { ready: true } },
    { addresses: ["127.64.0.3"], hostname: "db-1", conditions: { ready: false } },
  ],
};
const table = (publishNotReadyAddresses: boolean) =>
  createServiceTable(
    () => [
      service("web", { clusterIP: "127.96.0.7", ports: [{ name: "http", port: 80 }] }),
      service("db", { clusterIP: "None", publishNotReadyAddresses }),
    ],
    () => [slice],
  );
const addresses = (name: string, all = false) =>
  answerClusterName(table(all), name, dnsTypes.A).records.map((record) => ("address" in record ? record.address : ""));

test("a Service's name is its cluster IP, a headless one's its ready endpoints", () => {
  expect(addresses("web.shop.svc.cluster.local")).toEqual(["127.96.0.7"]);
  expect(addresses("db.shop.svc.cluster.local")).toEqual(["127.64.0.2"]);
  expect(addresses("db-0.db.shop.svc.cluster.local")).toEqual(["127.64.0.2"]);
});

test("publishNotReadyAddresses shows endpoints that are not ready", () => {
  expect(addresses("db.shop.svc.cluster.local", true)).toEqual(["127.64.0.2", "127.64.0.3"]);
  expect(addresses("db-1.db.shop.svc.cluster.local", true)).toEqual(["127.64.0.3"]);
});

test("a name that nobody has does not exist, and one of the world is refused", () => {
  expect(answerClusterName(table(false), "nope.shop.svc.cluster.local", dnsTypes.A).code).toBe(3);
  expect(answerClusterName(table(false), "example.com", dnsTypes.A).code).toBe(5);
});

test("SRV names port and host of each endpoint", () => {
  const { records } = answerClusterName(table(false), "_sql._tcp.db.shop.svc.cluster.local", dnsTypes.SRV);
  expect(records).toMatchObject([{ type: "SRV", port: 5432, target: "db-0.db.shop.svc.cluster.local" }]);
});

test("an ExternalName within the cluster has the address that its target has", () => {
  const names = createServiceTable(
    () => [
      service("web", { clusterIP: "10.96.0.7", ports: [{ port: 80 }] }),
      service("alias", { type: "ExternalName", externalName: "Web.shop.svc.cluster.local." }),
      service("outside", { type: "ExternalName", externalName: "www.example.com" }),
      service("circle", { type: "ExternalName", externalName: "circle.shop.svc.cluster.local" }),
    ],
    () => [],
  );
  const typesOf = (name: string, type: number): readonly string[] =>
    answerClusterName(names, `${name}.shop.svc.cluster.local`, type).records.map((record) => record.type);
  expect(typesOf("alias", dnsTypes.A)).toEqual(["CNAME", "A"]);
  expect(typesOf("alias", dnsTypes.CNAME)).toEqual(["CNAME"]);
  expect(typesOf("outside", dnsTypes.A)).toEqual(["CNAME"]);
  expect(typesOf("circle", dnsTypes.A).length).toBeLessThan(10);
});
