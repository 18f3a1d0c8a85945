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
test.each([
  [100, record, "Following"],
  [200, record, "NotReporting"],
  [200, { ...record, revision: 0 }, "Copying"],
  [200, undefined, "Starting"],
])("%i s after the record %j the reason is %s", (seconds, found, reason) => {
  expect(readyCondition({ silentMs: seconds * 1_000, deployment, record: found }).reason).toBe(reason);
});
