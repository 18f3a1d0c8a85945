import { Job } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { jobPod } from "./job-pod.ts";

test("the name of a pod keeps the index, however long the name of the Job is", () => {
  const template = { spec: { restartPolicy: "Never" as const, containers: [] } };
  const job = Job({ name: "a".repeat(63), namespace: "default", spec: { template } }) as Stored<Job>;
  expect(jobPod(job, { suffix: "xxxxx", index: 12 }).metadata.name).toBe(`${"a".repeat(54)}-12-xxxxx`);
  expect(jobPod(job, { suffix: "xxxxx" }).metadata.name).toBe(`${"a".repeat(57)}-xxxxx`);
});
