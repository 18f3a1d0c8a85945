import { expect, test } from "vitest";
import { Deployment } from "setpoint/kinds";
import type { MirrorRecord } from "./mirror-record.ts";
import { readyCondition } from "./mirror-status.ts";

const record: MirrorRecord = {
  ...{ source: "1", revision: 9, sourceRevision: 9, copies: 1, keys: 1 },
  at: "2026-01-01T00:00:00Z",
};
const labels = { app: "mirror" };
const template = { metadata: { labels }, spec: { containers: [{ name: "mirror" }] } };
const deployment = {
  ...Deployment({ name: "follow-mirror", spec: { selector: { matchLabels: labels }, template } }),
  status: { availableReplicas: 1 },
};
const after = (seconds: number): number => Date.parse(record.at) + seconds * 1_000;

test.each([
  [100, record, "Following"],
  [200, record, "NotReporting"],
  [200, { ...record, revision: 0 }, "Copying"],
  [200, undefined, "Starting"],
])("%i s after the record %j the reason is %s", (seconds, found, reason) => {
  expect(readyCondition({ nowMs: after(seconds), deployment, record: found }).reason).toBe(reason);
});
