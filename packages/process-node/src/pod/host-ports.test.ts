import type { ContainerPort, Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { shareHostPort } from "./host-ports.ts";

const pod = (...ports: ContainerPort[]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: [{ name: "a", ports }] },
});
const port = (hostPort: number, more: Partial<ContainerPort> = {}): ContainerPort => ({
  containerPort: 80,
  hostPort,
  ...more,
});

test.each([
  ["the same port", pod(port(80)), pod(port(80)), true],
  ["other ports", pod(port(80)), pod(port(81)), false],
  ["no ports of the node", pod({ containerPort: 80 }), pod({ containerPort: 80 }), false],
  ["other protocols", pod(port(80)), pod(port(80, { protocol: "UDP" })), false],
  ["other addresses", pod(port(80, { hostIP: "10.0.0.1" })), pod(port(80, { hostIP: "10.0.0.2" })), false],
  ["one address of all", pod(port(80, { hostIP: "10.0.0.1" })), pod(port(80, { hostIP: "0.0.0.0" })), true],
])("pods with %s", (_, one, other, expected) => {
  expect(shareHostPort(one, other)).toBe(expected);
});
