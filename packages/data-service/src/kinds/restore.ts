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
    archive: z
      .object({
        store: name.describe(
          "The BackupStore, in the same namespace, that has the backups and the log of the instance.",
        ),
        instanceUID: z
          .string()
          .regex(/^[A-Za-z0-9-]+$/)
          .max(63)
          .optional()
          .describe(
            "The UID of the instance whose data they are: the fourth part of paths in the store. Needed when the instance is gone and none of its Backups is left.",
          ),
      })
      .optional()
      .describe("The archive of the instance. The backup that the restore begins with is chosen there."),
  }),
  { description: "The data to restore.", rules: [exactlyOneOf("backup", "stored", "archive")] },
);

const targetValue = z.string().min(1).max(200);

const target = field(
  z.object({
    time: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/)
      .max(40)
      .optional()
      .describe("Up to the last change at or before this time, such as 2026-01-31T12:00:00Z."),
    position: targetValue.optional().describe("Up to this position of the engine's log."),
    name: targetValue.optional().describe("Up to the mark of this name, which was set before."),
    transaction: targetValue.optional().describe("Up to the end of this transaction."),
    timeline: z
      .int()
      .min(1)
      .optional()
      .describe("The history to follow. Each promotion begins a new one; the newest when absent."),
  }),
  {
    description:
      "The moment of the past that the data are of. Without it a backup is restored as a whole, and an archive up to its end.",
    rules: [exactlyOneOf("time", "position", "name", "transaction")],
  },
);

const way = z.object({
  object: z.string().describe("The path of the backup that it begins with."),
  timeline: z.int(),
  segments: z.int().describe("How many segments of the log are replayed."),
  end: z.string().describe("The first position that the archive did not lead to."),
  from: z.string(),
  to: z.string(),
});

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
    target: target.optional(),
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
  archive: z.string().optional().describe("What the store has of the instance: the path of its backups and its log."),
  way: way.optional().describe("How the restore gets to its target, as it was found in the store and verified."),
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
      "self.spec.instance == oldSelf.spec.instance && self.spec.source == oldSelf.spec.source && has(self.spec.target) == has(oldSelf.spec.target) && (!has(self.spec.target) || self.spec.target == oldSelf.spec.target) && has(self.spec.newInstance) == has(oldSelf.spec.newInstance)",
      "immutable: create another Restore instead",
    ),
  ],
});
export type Restore = ObjectOf<typeof Restore>;
