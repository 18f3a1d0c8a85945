import { Job, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { planJob } from "./plan.ts";
import { seeJob } from "./seen.ts";

type Spec = Partial<NonNullable<Job["spec"]>>;
type Status = NonNullable<Job["status"]>;

const nowMs = Date.parse("2026-01-01T01:00:00Z");
const template = { spec: { restartPolicy: "Never" as const, containers: [] } };

/**
 * Pods in short, by a character each: `r` running, `u` not ready, `s` succeeded, `f` failed an hour ago, `n`
 * failed now, `t` terminating, `S` and `F` the same as `s` and `f`, counted already. A digit before it is the
 * index.
 */
function plan(spec: Spec, pods: string, status: Status = {}) {
  const job = { ...Job({ name: "pi", namespace: "default", spec: { parallelism: 1, template, ...spec } }), status };
  const words = [...pods.matchAll(/(\d?)([a-zA-Z])/g)];
  const seen = words.map(([, index = "", state = ""], i) => podOf(state, index, i));
  return planJob(seeJob(job as Stored<Job>, seen, nowMs));
}

function podOf(state: string, index: string, i: number): Stored<Pod> {
  const lower = state.toLowerCase();
  const phase = { s: "Succeeded", f: "Failed", n: "Failed" }[lower] ?? "Running";
  const finishedAt = lower === "n" ? "2026-01-01T01:00:00Z" : "2026-01-01T00:00:00Z";
  const exitCode = phase === "Failed" ? 3 : 0;
  const terminated = phase === "Running" ? {} : { terminated: { exitCode, finishedAt, reason: "Error" } };
  const pod = {
    ...Pod({ name: `pi-${i}`, namespace: "default", spec: { containers: [] } }),
    status: {
      phase,
      conditions: [{ type: "Ready", status: state === "r" ? "True" : "False" }],
      containerStatuses: [{ name: "main", ready: false, restartCount: 0, image: "", imageID: "", state: terminated }],
    },
  };
  const metadata = {
    ...pod.metadata,
    uid: `uid-${i}`,
    finalizers: state === lower ? ["batch.kubernetes.io/job-tracking"] : [],
    ...(lower === "t" ? { deletionTimestamp: "2026-01-01T01:00:00Z" } : {}),
    ...(index === "" ? {} : { annotations: { "batch.kubernetes.io/job-completion-index": index } }),
  };
  return { ...pod, metadata } as unknown as Stored<Pod>;
}

test.each<[string, Spec, string, Status, object]>([
  ["starts as many as run at once", { completions: 3, parallelism: 2 }, "", {}, { create: [{}, {}] }],
  ["starts no more than are missing", { completions: 3, parallelism: 2 }, "ss", {}, { create: [{}] }],
  ["waits after a failure", { completions: 1 }, "n", {}, { create: [], recheckMs: 10_000 }],
  ["waits longer after two", { completions: 1 }, "fn", {}, { create: [], recheckMs: 20_000 }],
  ["tries again when the time is over", { completions: 1 }, "f", {}, { create: [{}] }],
  ["replaces a pod that is deleted at once", { completions: 1 }, "t", {}, { create: [], recheckMs: 10_000 }],
  ["replaces it at its end by its policy", { completions: 1, podReplacementPolicy: "Failed" }, "t", {}, { create: [] }],
  ["drops what is too many", { completions: 5, parallelism: 1 }, "ru", {}, { drop: [{ name: "pi-1" }] }],
  ["drops all when it is suspended", { completions: 5, parallelism: 2, suspend: true }, "rr", {}, { drop: [{}, {}] }],
  [
    "has enough",
    { completions: 2, parallelism: 2 },
    "ss",
    {},
    { end: { reason: "CompletionsReached" }, isFinished: false },
  ],
  [
    "is finished when all are counted",
    { completions: 2, parallelism: 2 },
    "SS",
    { succeeded: 2 },
    { isFinished: true },
  ],
  ["without completions needs one success", { parallelism: 2 }, "sr", {}, { create: [], end: undefined }],
  ["without completions ends with its last pod", { parallelism: 2 }, "ss", {}, { end: { outcome: "succeeded" } }],
  [
    "fails above its limit",
    { completions: 1, backoffLimit: 1 },
    "ffr",
    {},
    { end: { reason: "BackoffLimitExceeded" }, stop: [{}] },
  ],
  [
    "fails after its deadline",
    { completions: 1, activeDeadlineSeconds: 60 },
    "r",
    { startTime: "2026-01-01T00:59:00Z" },
    { end: { reason: "DeadlineExceeded" }, stop: [{}] },
  ],
  [
    "looks again at its deadline",
    { completions: 1, activeDeadlineSeconds: 90 },
    "r",
    { startTime: "2026-01-01T00:59:00Z" },
    { end: undefined, recheckMs: 30_000 },
  ],
  [
    "fills free indexes",
    { completions: 4, parallelism: 4, completionMode: "Indexed" },
    "1s2r",
    {},
    { create: [{ index: 0 }, { index: 3 }] },
  ],
  [
    "drops a second pod of an index",
    { completions: 2, parallelism: 2, completionMode: "Indexed" },
    "0r0r1r",
    {},
    { drop: [{ name: "pi-1" }] },
  ],
  [
    "gives up an index alone",
    { completions: 2, parallelism: 2, completionMode: "Indexed", backoffLimitPerIndex: 0 },
    "0f1r",
    {},
    { create: [], end: undefined, counted: { status: { failedIndexes: "0" } } },
  ],
  [
    "fails when an index has failed and the others are done",
    { completions: 2, parallelism: 2, completionMode: "Indexed", backoffLimitPerIndex: 0 },
    "0f1s",
    {},
    { end: { reason: "FailedIndexes" } },
  ],
  [
    "tells a new pod how often its index has failed",
    { completions: 1, completionMode: "Indexed", backoffLimitPerIndex: 2 },
    "0f",
    {},
    { create: [{ index: 0, failuresBefore: 1 }], counted: { released: [] } },
  ],
  [
    "ends by its success policy",
    {
      completions: 3,
      parallelism: 3,
      completionMode: "Indexed",
      successPolicy: { rules: [{ succeededIndexes: "1" }] },
    },
    "0r1s2r",
    {},
    { end: { reason: "SuccessPolicy", message: "Matched rules at index 0" }, stop: [{}, {}] },
  ],
  [
    "ends by a rule about exit codes",
    {
      completions: 1,
      podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [3] } }] },
    },
    "n",
    {},
    {
      end: {
        reason: "PodFailurePolicy",
        message: "Container main for pod default/pi-0 failed with exit code 3 matching FailJob rule at index 0",
      },
    },
  ],
  [
    "does not count what a rule ignores",
    {
      completions: 1,
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [3] } }] },
    },
    "f",
    {},
    { end: undefined, counted: { failed: 0, released: [{ name: "pi-0" }] } },
  ],
])("a Job %s", (_, spec, pods, status, expected) => {
  expect(plan(spec, pods, status)).toMatchObject(expected);
});

test("an ended pod is noted first, and counted when its finalizer is gone", () => {
  const noted = plan({ completions: 3 }, "s").counted;
  expect(noted.status).toMatchObject({ succeeded: 0, uncountedTerminatedPods: { succeeded: ["uid-0"] } });
  expect(noted.released).toHaveLength(1);
  const before = { succeeded: 0, uncountedTerminatedPods: { succeeded: ["uid-0"] } };
  expect(plan({ completions: 3 }, "S", before).counted.status).toMatchObject({
    succeeded: 1,
    uncountedTerminatedPods: {},
  });
  expect(plan({ completions: 3 }, "", before).counted.status).toMatchObject({
    succeeded: 1,
    uncountedTerminatedPods: {},
  });
});
