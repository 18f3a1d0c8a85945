/**
 * The kind AcceptanceRun: the acceptance tests of an operator, run on the cluster that it is installed on.
 */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { z } from "zod";
import { acceptanceCheckNames } from "./acceptance-check-names.ts";

const versionLengthMax = 63;

const spec = z.object({
  target: z
    .object({
      apiGroup: z.string().min(1).max(253).describe("The API group of the kind, such as etcd.setpoint.dev."),
      kind: z.string().min(1).max(63).describe("The kind of the instances that are created, such as EtcdCluster."),
    })
    .describe("The kind whose operator is tested."),
  version: z
    .string()
    .min(1)
    .max(versionLengthMax)
    .optional()
    .describe(
      "The engine's version that all checks run on, such as 3.5.16; without it the engine chooses, and an upgrade is one of the changes.",
    ),
  checks: z
    .array(z.enum(acceptanceCheckNames))
    .min(1)
    .max(acceptanceCheckNames.length)
    .optional()
    .describe("The checks to run, with those that they need; all of them when absent."),
  checkTimeoutSeconds: z.int().min(10).max(86_400).default(600).describe("How long one check may take."),
});

/** What is known of one check; it is everything that a restarted operator needs to go on. */
export const checkState = z.object({
  name: z.string(),
  state: z.enum(["Pending", "Running", "Passed", "Failed", "Skipped"]),
  message: z.string().optional().describe("What the check waits for, why it failed, or why it was skipped."),
  step: z.int().optional().describe("How many of its steps are done."),
  startedAt: z.string().optional(),
  finishedAt: z.string().optional(),
  seconds: z.number().optional().describe("How long the check took."),
  notes: z.record(z.string(), z.string()).optional().describe("What the next steps of the check need to know."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  phase: z.enum(["Running", "Passed", "Failed"]),
  message: z.string().optional().describe("What the run does now, or how it ended."),
  passed: z.int().describe("How many checks have passed."),
  failed: z.int().describe("How many checks have failed."),
  skipped: z.int().describe("How many checks do not apply to the engine, or need a check that has not passed."),
  startedAt: z.string().optional(),
  finishedAt: z.string().optional(),
  checks: z.array(checkState),
  conditions: conditions().optional(),
});

/** The kind AcceptanceRun, `data.setpoint.dev/v1`. */
export const AcceptanceRun = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "AcceptanceRun",
  categories: ["data"],
  spec,
  status,
  selectableFields: ["spec.target.apiGroup", "spec.target.kind"],
  printerColumns: {
    Kind: "spec.target.kind",
    Phase: "status.phase",
    Passed: "status.passed",
    Failed: "status.failed",
    Skipped: "status.skipped",
    Message: { path: "status.message", priority: 1 },
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 30", "the name may have at most 30 characters, because other names add to it"),
    rule("self.spec == oldSelf.spec", "immutable: create another AcceptanceRun instead", { fieldPath: ".spec" }),
  ],
});
export type AcceptanceRun = ObjectOf<typeof AcceptanceRun>;
export type CheckState = z.infer<typeof checkState>;
