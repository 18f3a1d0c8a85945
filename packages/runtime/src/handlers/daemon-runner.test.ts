import { createKind, type KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { sleep } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { DaemonRunner } from "./daemons.ts";

const Box = createKind({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const key = "default/a";
const metadata = { name: "a", namespace: "default", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const box: Stored<KubeObject> = { ...Box({ name: "a", namespace: "default" }), metadata };

test("a daemon whose key was taken away restarts when the key comes back", async () => {
  const host = simulatedHost(1);
  const permits: AbortController[] = [];
  const notes: string[] = [];
  const runner = new DaemonRunner({
    ...{ host, log: host.log, controller: "box", find: () => box, wake() {} },
    daemons: {
      async probe(_, { signal, clock }) {
        notes.push("start");
        await sleep(clock, 1e9, signal).catch(() => {});
        notes.push("stop");
      },
    },
    accompany() {
      const permit = new AbortController();
      permits.push(permit);
      // This daemon writes nothing.
      return { client: {} as Client, signal: permit.signal, ended() {} };
    },
  });
  runner.ensure(key, box);
  await host.clock.run(10);
  permits[0]?.abort(new Error("the key belongs to another member now"));
  await host.clock.run(10);
  expect([runner.count, ...notes]).toEqual([0, "start", "stop"]);
  runner.ensure(key, box);
  await host.clock.run(10);
  expect([runner.count, ...notes]).toEqual([1, "start", "stop", "start"]);
  const stopped = runner.stopAll();
  await host.clock.run(10);
  await stopped;
});
