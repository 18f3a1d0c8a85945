import { type EndpointSlice, Service } from "@setpoint/api";
import { expect, test } from "vitest";
import { backends, createServiceTable } from "./service-table.ts";

const slice = (name: string, addresses: readonly string[], ready = true): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name, namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
  addressType: "IPv4",
  ports: [{ name: "http", port: 80 }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready } })),
});

test("the endpoints of a Service are those of all its slices, each of them once", () => {
  const slices = [
    slice("web", ["10.0.0.1", "10.0.0.2"]),
    slice("web-2", ["10.0.0.3"]),
    // One that moves is in two slices for a moment.
    slice("web-3", ["10.0.0.2"], false),
  ];
  const table = createServiceTable(
    () => [],
    () => slices,
  );
  const found = table.endpoints("shop", "web");
  expect(found.map(({ address }) => address).toSorted()).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
  expect(found.every(({ isReady }) => isReady)).toBe(true);
});

test("a number that is no port is none of an endpoint", () => {
  for (const port of [0, -5, 65_536, 70_000]) {
    const odd = { ...slice("web", ["10.0.0.1"]), ports: [{ name: "http", port }] };
    const table = createServiceTable(
      () => [],
      () => [odd],
    );
    expect(table.endpoints("shop", "web")[0]?.ports.size, String(port)).toBe(0);
  }
});

test("slices with ports of different names do not mix their pods", () => {
  const [first, second] = ["10.0.0.1", "10.0.0.2"].map((address, i) => ({
    ...slice(`web-${i}`, [address]),
    ports: [{ name: i === 0 ? "http" : "admin", port: 8_080 + i }],
  }));
  const service = Service({
    name: "web",
    namespace: "shop",
    spec: {
      ports: [
        { name: "http", port: 80 },
        { name: "admin", port: 81 },
      ],
    },
  });
  const table = createServiceTable(
    () => [service],
    () => [first, second].filter((each) => each !== undefined),
  );
  const found = (service.spec?.ports ?? []).map((port) => backends(table, service, port));
  expect(found).toEqual([[{ host: "10.0.0.1", port: 8_080 }], [{ host: "10.0.0.2", port: 8_081 }]]);
});
