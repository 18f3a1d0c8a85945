import { EndpointSlice, Service } from "@setpoint/api";
import { expect, test } from "vitest";
import { portsToConnect, readyTargets } from "./service-target.ts";

const web = (spec: object): Service =>
  Service({ name: "web", namespace: "default", spec } as Parameters<typeof Service>[0]);
const two = web({
  ports: [
    { name: "http", port: 80 },
    { name: "admin", port: 8080 },
    { name: "dns", port: 53, protocol: "UDP" },
  ],
});
const http = { name: "http", port: 80 };

test.each([
  ["no port: all that carry TCP", undefined, [http, { name: "admin", port: 8080 }]],
  ["a name", "http", [http]],
  ["a number", "8080", [{ name: "admin", port: 8080 }]],
] as const)("portsToConnect() finds the ports of %s", (_, wanted, expected) => {
  expect(portsToConnect(two, wanted)).toEqual(expected);
});

test.each([
  ["a port that does not exist", two, "https", 'it has no port "https"; expected 80 or http, 8080 or admin'],
  ["no port at all", web({ clusterIP: "None" }), undefined, "it has no TCP port"],
  [
    "a name elsewhere",
    web({ type: "ExternalName", externalName: "db.example.com" }),
    undefined,
    "it stands for db.example.com",
  ],
])("portsToConnect() refuses %s", (_, service, wanted, message) => {
  expect(() => portsToConnect(service, wanted)).toThrow(message);
});

/** Pods with the port on which each serves, as the controller writes them. */
function slice(port: number, endpoints: readonly object[]): EndpointSlice {
  const ports = [{ name: "http", port, protocol: "TCP" }];
  return EndpointSlice({ name: `web-${port}`, addressType: "IPv4", ports, endpoints } as Parameters<
    typeof EndpointSlice
  >[0]);
}
const pod = (name: string, ready?: boolean): object => ({
  addresses: ["10.0.0.1"],
  conditions: ready === undefined ? {} : { ready },
  targetRef: { kind: "Pod", name },
});

test("readyTargets() knows the port of each pod, where the Service names a port that differs between pods", () => {
  const slices = [slice(8000, [pod("old", true), pod("starting", false)]), slice(9000, [pod("new")])];
  expect(readyTargets("web", http, slices)).toEqual([
    { pod: "old", port: 8000 },
    { pod: "new", port: 9000 },
  ]);
  expect(readyTargets("web", { name: "admin", port: 8080 }, slices)).toEqual([]);
});

test("readyTargets() refuses addresses that are no pods", () => {
  const slices = [slice(80, [{ addresses: ["192.0.2.1"], conditions: { ready: true } }])];
  expect(() => readyTargets("web", http, slices)).toThrow("only ports of pods can be forwarded");
});
