import type { Client } from "@setpoint/client";
import type { Pod } from "@setpoint/api";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { failureText, PodFailures, pauseAfterFailures } from "./pod-failures.ts";

const owner = { apiVersion: "a/v1", kind: "A", metadata: { name: "a", uid: "owner" } };
const times = { startedAt: "2026-01-01T00:00:30Z", finishedAt: "2026-01-01T00:00:31Z" };
const ended = { exitCode: 1, reason: "Error", message: "error: wrong option", ...times };

function pod(name: string, uid: string, phase: string, state: object): Pod {
  const ready = { type: "Ready", status: phase === "Running" ? "True" : "False" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid, creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { nodeName: "node", restartPolicy: "Never", containers: [{ name: "main" }] },
    status: { phase, conditions: [ready], containerStatuses: [{ name: "main", state }] },
  } as unknown as Pod;
}

const failed = (name: string, uid: string): Pod => pod(name, uid, "Failed", { terminated: ended });
const running = (name: string, uid: string): Pod => pod(name, uid, "Running", { running: {} });
const stuck = (uid: string): Pod => pod("a-0", uid, "Pending", { waiting: { reason: "ContainerCreating" } });

function world(ageMs = 60_000) {
  const { clock, random } = simulatedHost(1, ageMs);
  const events: string[] = [];
  const asked: string[] = [];
  const failures = new PodFailures();
  const items = [
    { eventTime: "2026-01-01T00:00:02Z", reason: "FailedMount", note: 'secret "newer" not found' },
    { deprecatedLastTimestamp: "2026-01-01T00:00:01Z", reason: "FailedMount", note: 'secret "older" not found' },
  ].map((item) => ({ ...item, metadata: {} }));
  const client = {
    list: (_kind: unknown, { fieldSelector }: { readonly fieldSelector: string }) => {
      asked.push(fieldSelector);
      return Promise.resolve({ items });
    },
  } as unknown as Client;
  const context = {
    client,
    host: { clock, random, sleep: async () => {} },
    signal: new AbortController().signal,
    event: (type: string, reason: string, message: string) => void events.push(`${type} ${reason} ${message}`),
  };
  const observe = (...pods: readonly Pod[]) => failures.observe(owner, pods, context);
  return { observe, events, asked, clock };
}

test("each failure of a pod is one Event, with its exit code and the words of its log", async () => {
  const { observe, events } = world();
  const first = await observe(failed("a-0", "1"), running("a-1", "2"));
  await observe(failed("a-0", "1"), running("a-1", "2"));
  expect([...first.keys()]).toEqual(["a-0"]);
  expect(events).toEqual([
    'Warning ContainerFailed Pod "a-0": container "main" ended with exit code 1 (Error): error: wrong option; the next start is not before 2026-01-01T00:01:10Z',
  ]);
});

test("pods that fail together count as one failure, and those in their place as the next", async () => {
  const { observe } = world();
  const timesOf = async (...pods: readonly Pod[]): Promise<readonly number[]> =>
    [...(await observe(...pods)).values()].map(({ times }) => times);
  expect(await timesOf(failed("a-0", "1"), failed("a-1", "2"))).toEqual([1, 1]);
  expect(await timesOf()).toEqual([]);
  expect(await timesOf(failed("a-0", "3"), failed("a-1", "4"))).toEqual([2, 2]);
  const third = (await observe(failed("a-0", "5"), failed("a-1", "6"))).get("a-0");
  expect(third).toMatchObject({ times: 3, nextTry: "2026-01-01T00:01:40Z" });
  expect(third === undefined ? "" : failureText(third)).toContain("; pods failed 3 times in a row; the next start is");
});

test("a pod whose program has ended before its node says that the pod has failed is counted then", async () => {
  const { observe, events } = world();
  const ending = pod("a-0", "1", "Running", { terminated: ended });
  expect((await observe(ending)).get("a-0")?.times).toBe(0);
  expect(events).toEqual([]);
  expect((await observe(failed("a-0", "1"))).get("a-0")?.times).toBe(1);
  expect(events).toHaveLength(1);
});

test.each([
  ["was killed from outside", { exitCode: 137, reason: "Error" }, 0],
  ["ran for a while", { startedAt: "2026-01-01T00:00:00Z" }, 0],
  ["needs too much memory at once", { exitCode: 137, reason: "OOMKilled" }, 1],
  [
    "could not be started, so that a kubelet gives no time",
    { reason: "StartError", exitCode: 128, startedAt: "1970-01-01T00:00:00Z" },
    1,
  ],
])("a program that %s, counts for a pause or not", async (_, how, expected) => {
  const { observe, events } = world();
  const failure = (await observe(pod("a-0", "1", "Failed", { terminated: { ...ended, ...how } }))).get("a-0");
  expect(failure?.times).toBe(expected);
  expect(failure?.nextTry !== undefined).toBe(expected > 0);
  expect(events).toHaveLength(1);
});

test("once all pods are ready, a failure is the first again", async () => {
  const { observe } = world();
  await observe(failed("a-0", "1"));
  await observe(failed("a-0", "2"));
  await observe(running("a-0", "3"));
  expect((await observe(failed("a-0", "4"))).get("a-0")?.times).toBe(1);
});

test("the pause doubles up to five minutes", () => {
  expect([1, 2, 3, 5, 6, 100].map((times) => pauseAfterFailures(times) / 1_000)).toEqual([10, 20, 40, 160, 300, 300]);
});

test("a pod that its node cannot prepare is explained by its newest Event, asked for every ten seconds", async () => {
  const { observe, asked, events, clock } = world();
  for (let i = 0; i < 4; i++) {
    const failure = (await observe(stuck("1"))).get("a-0");
    expect(failure).toMatchObject({ reason: "FailedMount", times: 0 });
    expect(failure?.message).toContain('secret "newer" not found');
    await clock.run(4_000);
  }
  expect(asked).toEqual(["regarding.uid=1,type=Warning", "regarding.uid=1,type=Warning"]);
  expect(events).toHaveLength(1);
});

test("a pod that was just created is not asked about", async () => {
  const { observe, asked } = world(2_000);
  expect((await observe(stuck("1"))).size).toBe(0);
  expect(asked).toEqual([]);
});

test("a problem that may pass with an ordinary start is shown at once, and an Event only after it", async () => {
  const { observe, events, clock } = world(2_000);
  const waiting = pod("a-0", "1", "Pending", { waiting: { reason: "ErrImagePull", message: "not found" } });
  expect((await observe(waiting)).get("a-0")?.reason).toBe("ImageUnavailable");
  expect(events).toEqual([]);
  await clock.run(4_000);
  await observe(waiting);
  expect(events).toHaveLength(1);
});

test("a pod that is being deleted has no problem", async () => {
  const { observe, events } = world();
  const leaving = failed("a-0", "1");
  const metadata = { ...leaving.metadata, deletionTimestamp: new Date(0).toISOString() };
  expect((await observe({ ...leaving, metadata })).size).toBe(0);
  expect(events).toEqual([]);
});
