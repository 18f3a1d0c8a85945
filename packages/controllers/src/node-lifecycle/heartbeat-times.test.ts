import { Lease, Node } from "@setpoint/api";
import { expect, test } from "vitest";
import { heartbeatTimes } from "./heartbeat-times.ts";

const node = (uid: string): Node => ({ ...Node({ name: "n1" }), metadata: { name: "n1", uid } });
const lease = (second: number): Lease =>
  Lease({ name: "n1", namespace: "kube-node-lease", spec: { renewTime: `2026-01-01T00:00:${second}.000000Z` } });

test("silence counts from the last new sign, whatever time the node writes", () => {
  const times = heartbeatTimes();
  expect(times.silenceMs(node("a"), lease(10), 1_000)).toBe(0);
  expect(times.silenceMs(node("a"), lease(10), 9_000)).toBe(8_000);
  expect(times.silenceMs(node("a"), lease(11), 10_000)).toBe(0);
  // An older cache shows nothing new.
  expect(times.silenceMs(node("a"), lease(10), 15_000)).toBe(5_000);
  expect(times.silenceMs(node("a"), undefined, 16_000)).toBe(6_000);
});

test("a heartbeat in the status of the node is a sign, too", () => {
  const times = heartbeatTimes();
  const beating = (minute: number): Node =>
    ({
      ...node("a"),
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: `2026-01-01T00:1${minute}:00Z` }] },
    }) as Node;
  times.silenceMs(beating(1), lease(10), 0);
  expect(times.silenceMs(beating(1), lease(20), 7_000)).toBe(7_000);
  expect(times.silenceMs(beating(2), lease(20), 9_000)).toBe(0);
});

test("another node of the same name, and one that was forgotten, start from nothing", () => {
  const times = heartbeatTimes();
  times.silenceMs(node("a"), lease(10), 0);
  expect(times.silenceMs(node("b"), lease(10), 5_000)).toBe(0);
  times.keep([]);
  expect(times.silenceMs(node("b"), lease(10), 9_000)).toBe(0);
});
