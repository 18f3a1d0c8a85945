import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { RunHistory } from "../run/run-history.ts";
import { RunTransport } from "../run/run-transport.ts";
import { ShardPermits } from "./shard-permits.ts";
import { slotCount } from "./slots.ts";

const drainMsMax = 30_000;
const marginMs = 5_000;
const all = new Uint8Array(slotCount).fill(1);
const none = new Uint8Array(slotCount);

function create() {
  const { clock } = simulatedHost(1);
  const permits = new ShardPermits({ clock, drainMsMax, marginMs, shardBy: (key) => key });
  const ownership = permits.ownership(undefined, new AbortController().signal);
  return { clock, permits, begin: () => ownership.begin("default/lolly") };
}

test("a run that begins for a key that is lost already is revoked at once", () => {
  const { permits, begin } = create();
  permits.update(all);
  permits.update(none);
  expect(permits.isDrained()).toBe(true);
  const permit = begin();
  expect(permit.signal.aborted).toBe(true);
  expect(() => permit.assertMayWrite()).toThrow("Cannot write: the key belongs to another member now");
  // What this member has acknowledged to the others stays true.
  expect(permits.isDrained()).toBe(true);
});

test("a write that had no answer keeps its key for as long as it may be on its way, though the run has ended", async () => {
  const { clock, permits, begin } = create();
  permits.update(all);
  const permit = begin();
  const way = new RunTransport({
    inner: { send: () => Promise.reject(new Error("the connection broke")) },
    ...{ clock, tracer: undefined, span: undefined },
    record: new RunHistory().begin({ key: "default/lolly", reconcileID: "", startedMs: 0, causes: [], moreCauses: 0 }),
    assertMayWrite: () => permit.assertMayWrite(),
  });
  permit.follow(way);
  await expect(way.send({ method: "PATCH", path: "/api/v1/x" })).rejects.toThrow("the connection broke");
  expect(way.writesOnTheirWay).toBe(0);
  permit.ended();
  permits.update(none);
  expect(permits.isDrained()).toBe(false);
  await clock.run(marginMs - 1);
  expect(permits.isDrained()).toBe(false);
  await clock.run(1);
  expect(permits.isDrained()).toBe(true);
});

test("a key that comes back and is lost again has all its time to end", async () => {
  const { clock, permits, begin } = create();
  permits.update(all);
  const permit = begin();
  permits.update(none);
  await clock.run(drainMsMax - 1);
  permits.update(all);
  await clock.run(drainMsMax);
  permits.update(none);
  expect(permits.isDrained()).toBe(false);
  expect(permit.signal.aborted).toBe(false);
  await clock.run(drainMsMax);
  permits.isDrained();
  expect(permit.signal.aborted).toBe(true);
});
