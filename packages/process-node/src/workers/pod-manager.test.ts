import type { Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { PodManager } from "./pod-manager.ts";
import { main, PodWorld } from "./pod-world.fixture.ts";

const withPort = (uid: string, status?: Pod["status"]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: uid, namespace: "shop", uid },
  spec: { containers: [{ ...main, ports: [{ containerPort: 80, hostPort: 8080 }] }] },
  ...(status && { status }),
});

test("a pod whose port of the node is taken fails, unless it ran before its node's agent was restarted", async () => {
  const world = new PodWorld({ containers: [main] });
  const manager = new PodManager(world.parts());
  manager.changed(withPort("first"), undefined);
  manager.changed(withPort("second"), undefined);
  manager.changed(withPort("older", { phase: "Running", startTime: "2026-01-01T00:00:00Z" }), undefined);
  await world.run(1);
  expect(world.starts.map(({ id }) => id.split("/")[0])).toEqual(expect.arrayContaining(["first", "older"]));
  expect(world.starts.map(({ id }) => id.split("/")[0])).not.toContain("second");
  const rejected = { phase: "Failed", reason: "NodePorts", message: "Pod was rejected: Predicate NodePorts failed" };
  expect(world.statuses).toContainEqual(expect.objectContaining(rejected));
});
