/**
 * The kind AcceptanceRun, as far as a client needs it. The command works with every operator of data
 * services, so it depends on none of their packages.
 */
import type { KindRef } from "@setpoint/client";
import type { KubeObject } from "@setpoint/apimachinery";

interface CheckReport {
  readonly name: string;
  readonly state: "Pending" | "Running" | "Passed" | "Failed" | "Skipped";
  readonly message?: string;
  readonly seconds?: number;
}

export interface RunStatus {
  readonly phase: "Running" | "Passed" | "Failed";
  readonly message?: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly finishedAt?: string;
  readonly checks: readonly CheckReport[];
}

export interface AcceptanceRun extends KubeObject {
  readonly spec?: {
    readonly target?: { readonly apiGroup: string; readonly kind: string };
    readonly version?: string;
    readonly checks?: readonly string[];
    readonly checkTimeoutSeconds?: number;
  };
  readonly status?: RunStatus;
}

export const acceptanceRuns: KindRef<AcceptanceRun> = {
  group: "data.setpoint.dev",
  version: "v1",
  kind: "AcceptanceRun",
  plural: "acceptanceruns",
  namespaced: true,
};
