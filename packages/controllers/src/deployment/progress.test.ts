import type { Deployment } from "@setpoint/api";
import { expect, test } from "vitest";
import { progressingCondition, untilTimeoutMs } from "./progress.ts";

const start = "2026-01-01T00:00:00Z";
const after = (seconds: number): string => new Date(Date.parse(start) + seconds * 1000).toISOString();
const none = {
  replicas: 0,
  updatedReplicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  unavailableReplicas: 0,
  terminatingReplicas: 0,
};
const done = { ...none, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
const half = { ...done, readyReplicas: 1, availableReplicas: 1 };

const progressing = (reason: string, status = "True"): object => ({
  type: "Progressing",
  status,
  reason,
  message: "",
  lastUpdateTime: start,
  lastTransitionTime: start,
});

interface Row {
  readonly reason?: string;
  readonly status?: string;
  readonly spec?: object;
  readonly reported?: object;
  readonly counts?: typeof none;
  readonly isCreated?: boolean;
  readonly seconds?: number;
}

function rollout({ reason, status, spec = {}, reported = none, counts = none, isCreated = false, seconds = 5 }: Row) {
  const conditions = reason === undefined ? [] : [progressing(reason, status)];
  const deployment = {
    metadata: { name: "web" },
    spec: { replicas: 2, progressDeadlineSeconds: 60, ...spec },
    status: { ...reported, conditions },
  } as unknown as Deployment;
  return { deployment, counts, set: "web-1", isCreated, now: after(seconds) };
}

test.each<[string, Row, string]>([
  ["a new set", { isCreated: true }, "True NewReplicaSetCreated 5"],
  ["a set that was found", {}, "True FoundNewReplicaSet 5"],
  ["more pods of the new template", { reason: "NewReplicaSetCreated", counts: half }, "True ReplicaSetUpdated 5"],
  [
    "fewer pods of the old one",
    {
      reason: "ReplicaSetUpdated",
      reported: { replicas: 4, updatedReplicas: 2 },
      counts: { ...none, replicas: 3, updatedReplicas: 2 },
    },
    "True ReplicaSetUpdated 5",
  ],
  [
    "the last pod is available",
    { reason: "ReplicaSetUpdated", reported: half, counts: done },
    "True NewReplicaSetAvailable 5",
  ],
  [
    "nothing moves",
    { reason: "ReplicaSetUpdated", reported: half, counts: half, seconds: 59 },
    "True ReplicaSetUpdated 0",
  ],
  [
    "nothing moved until the deadline",
    { reason: "ReplicaSetUpdated", reported: half, counts: half, seconds: 60 },
    "False ProgressDeadlineExceeded 60",
  ],
  [
    "it moves after its deadline",
    { reason: "ProgressDeadlineExceeded", status: "False", reported: half, counts: done },
    "True NewReplicaSetAvailable 5",
  ],
  [
    "it stays timed out",
    { reason: "ProgressDeadlineExceeded", status: "False", reported: half, counts: half },
    "False ProgressDeadlineExceeded 0",
  ],
  [
    "a pod is lost after the end",
    { reason: "NewReplicaSetAvailable", reported: done, counts: half, seconds: 90 },
    "True NewReplicaSetAvailable 0",
  ],
  ["it is paused", { reason: "ReplicaSetUpdated", spec: { paused: true }, seconds: 90 }, "Unknown DeploymentPaused 90"],
  [
    "the pause lasts",
    { reason: "DeploymentPaused", status: "Unknown", spec: { paused: true }, seconds: 90 },
    "Unknown DeploymentPaused 0",
  ],
  ["the pause ends", { reason: "DeploymentPaused", status: "Unknown", seconds: 90 }, "Unknown DeploymentResumed 90"],
])("%s", (_claim, row, expected) => {
  const condition = progressingCondition(rollout(row));
  const seconds = (Date.parse(condition?.lastUpdateTime ?? "") - Date.parse(start)) / 1000;
  expect(`${condition?.status} ${condition?.reason} ${seconds}`).toBe(expected);
});

test("a Deployment with the longest deadline has no condition", () => {
  expect(progressingCondition(rollout({ spec: { progressDeadlineSeconds: 2_147_483_647 } }))).toBeUndefined();
});

test("the deadline runs from the last progress, and not in a pause or after the end", () => {
  const until = (row: Row): number | undefined => {
    const { deployment, now } = rollout(row);
    return untilTimeoutMs(deployment, deployment.status?.conditions?.[0], now);
  };
  expect(until({ reason: "ReplicaSetUpdated", seconds: 20 })).toBe(40_000);
  expect(until({ reason: "ReplicaSetUpdated", seconds: 70 })).toBe(0);
  expect(until({ reason: "DeploymentPaused", spec: { paused: true } })).toBeUndefined();
  expect(until({ reason: "NewReplicaSetAvailable" })).toBeUndefined();
});
