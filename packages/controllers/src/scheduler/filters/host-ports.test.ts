import type { Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { hostPortsFree } from "./host-ports.ts";

interface Port {
  readonly hostIP?: string;
  readonly protocol?: "TCP" | "UDP";
}

function withPort(port: Port, hostPort: number, spec: object = {}): Stored<Pod> {
  return pod({ containers: [{ name: "main", ports: [{ containerPort: 80, hostPort, ...port }] }], ...spec });
}

test.each<[string, Port, Port, number, boolean]>([
  ["the same port", {}, {}, 8080, false],
  ["another port", {}, {}, 8081, true],
  ["another protocol", {}, { protocol: "UDP" }, 8080, true],
  ["another address", { hostIP: "127.0.0.1" }, { hostIP: "10.0.0.1" }, 8080, true],
  ["the same address", { hostIP: "127.0.0.1" }, { hostIP: "127.0.0.1" }, 8080, false],
  ["all addresses", { hostIP: "127.0.0.1" }, {}, 8080, false],
])("%s", (_, present, wanted, port, fits) => {
  const candidate = withPort(wanted, port);
  const cluster = view(candidate, [node("n1")], [withPort(present, 8080, { nodeName: "n1" })]);
  const reason = "node(s) didn't have free ports for the requested pod ports";
  expect(verdicts(hostPortsFree, candidate, cluster)).toEqual([fits ? "ok" : reason]);
});
