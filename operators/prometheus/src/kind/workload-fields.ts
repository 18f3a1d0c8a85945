/** What every kind of workload has: its status, and the columns of its table. */
import { age, conditions } from "setpoint";
import { conditionColumn } from "setpoint/kinds";
import { z } from "zod";

export const workloadStatus = {
  observedGeneration: z.int().optional(),
  paused: z.boolean(),
  replicas: z.int(),
  updatedReplicas: z.int(),
  availableReplicas: z.int(),
  unavailableReplicas: z.int(),
  configurationHash: z.string().optional().describe("Of the configuration and rules that all pods should load."),
  problems: z
    .array(z.string())
    .optional()
    .describe("Fields and objects that are left out of the configuration, and why; the first 20."),
  conditions: conditions(),
};

/** Behind the version and the wanted number of pods. */
export const workloadColumns = {
  Ready: "status.availableReplicas",
  Reconciled: conditionColumn("Reconciled"),
  Available: conditionColumn("Available"),
  Age: age(),
  Paused: { path: "status.paused", priority: 1 },
} as const;
