/** The kind Restore: the data of a backup in a new instance, or in place of the data of one. */
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { duration, exactlyOneOf, preserved } from "setpoint/kinds";
import { z } from "zod";
import { instanceReference } from "./instance.ts";
import { dataLabels } from "./labels.ts";
import { plannedSteps } from "./planned-step.ts";

const name = z.string().min(1).max(253);

const source = field(
  z.object({
    backup: name.optional().describe("A Backup in the same namespace, which has succeeded."),
    stored: z
      .object({
        store: name.describe("The BackupStore, in the same namespace."),
        object: z
          .string()
          .min(1)
          .max(500)
          .describe(
            `The path in the store, as status.object of a Backup names it. A path of another namespace needs the label ${dataLabels.otherNamespaces}=true on the claim, or on the Secret with the credentials, of the store.`,
          ),
      })
      .optional()
      .describe("Stored data whose Backup is gone."),
  }),
  { description: "The data to restore.", rules: [exactlyOneOf("backup", "stored")] },
);

const newInstance = z
  .object({
    name: z.string().min(1).max(52).describe("The name of the new instance."),
    spec: preserved().optional().describe("Merged over the spec of the instance that the data are of, if it exists."),
  })
  .describe("Create an instance of this name for the data.");

const spec = field(
  z.object({
    instance: instanceReference.describe("The instance that the data are of. A restore in place replaces its data."),
    source,
    newInstance: newInstance.optional(),
    inPlace: z.object({}).optional().describe("Replace the data of the instance. It is stopped meanwhile."),
    keepPreviousFor: duration()
      .default("24h")
      .describe("How long the volumes from before a restore in place are kept, unless the Restore is deleted before."),
    deadlineSeconds: z
      .int()
      .min(10)
      .max(86_400)
      .default(3_600)
      .describe("How long one step may take. Then the Restore fails, and in place the previous data come back."),
    attempts: z.int().min(1).max(10).default(3).describe("How often a transfer that failed is tried."),
  }),
  { rules: [exactlyOneOf("newInstance", "inPlace")] },
);

const status = z.object({
  observedGeneration: z.int().optional(),
  phase: z.enum([
    "Pending",
    "Verifying",
    "SavingPresent",
    "Stopping",
    "Preparing",
    "Starting",
    "RollingBack",
    "Succeeded",
    "Failed",
  ]),
  message: z.string().optional().describe("What the restore waits for, or why it failed."),
  waitingFor: z
    .string()
    .optional()
    .describe("What it cannot begin without. Meanwhile other restores into the instance go first."),
  id: z.string().optional().describe("The id of this restore in annotations and names of volumes."),
  startedAt: z.string().optional(),
  stepStartedAt: z.string().optional().describe("When the phase began."),
  finishedAt: z.string().optional(),
  attempt: z.int().optional(),
  retryAt: z.string().optional(),
  transferUID: z.string().optional(),
  store: z.string().optional(),
  object: z.string().optional(),
  sha256: z.string().optional(),
  encryptionKey: z.string().optional(),
  position: z.string().optional().describe("The position of the engine that the data reach to."),
  takenAt: z.string().optional().describe("When that position was the newest."),
  instanceUID: z.string().optional().describe("The UID of the instance with the restored data."),
  safetyBackup: z.string().optional().describe("The Backup of the data from before."),
  failure: z.string().optional().describe("Why the restore goes back to the previous data."),
  recoverySeconds: z.int().optional().describe("From the start of the restore until the instance served."),
  previousKeptUntil: z.string().optional().describe("When the volumes from before are deleted."),
  plannedSteps: plannedSteps.describe("The steps from the present one to the end, in their order."),
  conditions: conditions().optional(),
});

/** The kind Restore, `data.setpoint.dev/v1`. */
export const Restore = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "Restore",
  categories: ["data"],
  spec,
  status,
  selectableFields: ["spec.instance.apiGroup", "spec.instance.kind"],
  printerColumns: {
    Instance: "spec.instance.name",
    New: "spec.newInstance.name",
    Phase: "status.phase",
    Position: "status.position",
    Seconds: "status.recoverySeconds",
    Message: { path: "status.message", priority: 1 },
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 200", "the name may have at most 200 characters, because pods' names add to it"),
    rule(
      "self.spec.instance == oldSelf.spec.instance && self.spec.source == oldSelf.spec.source && has(self.spec.newInstance) == has(oldSelf.spec.newInstance)",
      "immutable: create another Restore instead",
    ),
  ],
});
export type Restore = ObjectOf<typeof Restore>;
