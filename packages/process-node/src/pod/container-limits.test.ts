import type { Container, Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { containerLimits, podLimits } from "./container-limits.ts";

const container = (limits?: Record<string, string>, requests?: Record<string, string>): Container => ({
  name: "main",
  resources: { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) },
});
const pod = (...containers: readonly Container[]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {},
  spec: { containers },
});

test("limits and requests become what a control group takes", () => {
  expect(containerLimits(container({ cpu: "500m", memory: "64Mi" }))).toEqual({
    cpuMillis: 500,
    cpuRequestMillis: 500,
    memoryBytes: 67_108_864,
    processes: 1_024,
  });
  expect(containerLimits(container(undefined, { cpu: "2" }))).toEqual({ cpuRequestMillis: 2_000, processes: 1_024 });
});

test("a pod has a limit of memory when each of its containers has one", () => {
  expect(podLimits(pod(container({ memory: "1Gi" }), container({ memory: "1Gi" })))).toEqual({
    processes: 1_024,
    memoryBytes: 2 ** 31,
  });
  expect(podLimits(pod(container({ memory: "1Gi" }), container()))).toEqual({ processes: 1_024 });
});
