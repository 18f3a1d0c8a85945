/** The kind Backup: one backup of one instance in one store. */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { z } from "zod";
import { externalInstance } from "./external-instance.ts";
import { instanceReference } from "./instance.ts";
import { plannedSteps } from "./planned-step.ts";

const spec = z.object({
  instance: instanceReference,
  store: z.string().min(1).max(253).describe("The BackupStore, in the same namespace."),
  external: externalInstance
    .optional()
    .describe(
      "Back up this instance, which no operator runs, in place of spec.instance: to move its data into a new instance. spec.instance.name is then the name that its data have in the store; no object needs to have it.",
    ),
  deletionPolicy: z
    .enum(["Delete", "Retain"])
    .default("Delete")
    .describe("Whether the stored data are deleted with this object."),
  deadlineSeconds: z
    .int()
    .min(10)
    .max(86_400)
    .default(3_600)
    .describe(
      "How long one transfer may run, and how long the backup may wait and be tried again. Then it has failed.",
    ),
  attempts: z.int().min(1).max(10).default(3).describe("How often a transfer that failed is tried."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  phase: z.enum(["Pending", "Running", "Verifying", "Succeeded", "Failed"]),
  message: z.string().optional().describe("What the backup waits for, or why it failed."),
  waitingFor: z
    .string()
    .optional()
    .describe("What it cannot begin without. Meanwhile other backups of the instance go first."),
  startedAt: z.string().optional(),
  finishedAt: z.string().optional(),
  attempt: z.int().optional(),
  retryAt: z.string().optional().describe("When the next attempt begins, after one that failed."),
  transferUID: z.string().optional().describe("The UID of the pod that transfers now."),
  object: z.string().optional().describe("The path of the backup inside the store."),
  instanceUID: z.string().optional().describe("The UID of the instance that the data are from."),
  engineVersion: z.string().optional(),
  position: z
    .string()
    .optional()
    .describe("The position of the engine up to which the data reach: etcd's revision, or PostgreSQL's LSN."),
  takenAt: z.string().optional().describe("When the position was the newest: the point in time that the data are of."),
  dataBytes: z.int().optional(),
  storedBytes: z.int().optional(),
  sha256: z.string().optional().describe("The SHA-256 of the data before encryption, in hexadecimal."),
  encryptionKey: z.string().optional().describe("The name of the key that it is encrypted with."),
  verifiedAt: z.string().optional().describe("When the stored data were last read back and found complete."),
  plannedSteps: plannedSteps.describe("The steps from the present one to the end, in their order."),
  conditions: conditions().optional(),
});

/** The kind Backup, `data.setpoint.dev/v1`. */
export const Backup = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "Backup",
  categories: ["data"],
  spec,
  status,
  selectableFields: ["spec.instance.apiGroup", "spec.instance.kind"],
  printerColumns: {
    Kind: "spec.instance.kind",
    Instance: "spec.instance.name",
    Phase: "status.phase",
    Position: "status.position",
    Bytes: "status.dataBytes",
    Verified: { path: "status.verifiedAt", priority: 1 },
    Message: { path: "status.message", priority: 1 },
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 200", "the name may have at most 200 characters, because pods' names add to it"),
    rule(
      "self.spec.instance == oldSelf.spec.instance && self.spec.store == oldSelf.spec.store && has(self.spec.external) == has(oldSelf.spec.external) && (!has(self.spec.external) || self.spec.external == oldSelf.spec.external)",
      "immutable: create another Backup instead",
    ),
  ],
});
export type Backup = ObjectOf<typeof Backup>;
