/** The kind BackupPlan: backups of one instance on a schedule, and how long they are kept. */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { cronLine, duration, timeZone } from "setpoint/kinds";
import { z } from "zod";
import { instanceReference, keepsInstance } from "./instance.ts";

const retention = z
  .object({
    keepLast: z.int().min(1).max(1_000).optional().describe("Keep at least this many of the newest good backups."),
    keepFor: duration().optional().describe("Keep good backups that are younger than this, such as 720h."),
  })
  .describe(
    "Which good backups are kept: those that one of the fields names. The newest good backup always stays, and only backups that were verified count.",
  );

const spec = z.object({
  instance: instanceReference,
  store: z.string().min(1).max(253).describe("The BackupStore, in the same namespace."),
  schedule: cronLine().describe(
    "A cron line with five fields, or six with the second first, or a nickname such as @daily.",
  ),
  timeZone: timeZone().default("UTC").describe("The IANA name of the schedule's time zone."),
  retention: retention.default({ keepLast: 7 }),
  startingDeadlineSeconds: z
    .int()
    .min(1)
    .optional()
    .describe("A run that could not begin within this time is left out. Without it, missed runs are made up for once."),
  concurrency: z
    .enum(["Forbid", "Allow", "Replace"])
    .default("Forbid")
    .describe("What happens when a run is due and the last one has not finished: wait, run both, or give up the last."),
  suspend: z.boolean().default(false).describe("Whether no new backups are taken. Retention goes on."),
  deletionPolicy: z.enum(["Delete", "Retain"]).default("Delete").describe("The deletionPolicy of the Backups."),
  deadlineSeconds: z.int().min(10).max(86_400).default(3_600).describe("The deadlineSeconds of the Backups."),
  attempts: z.int().min(1).max(10).default(3).describe("The attempts of the Backups."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  lastScheduleTime: z.string().optional().describe("The newest time of the schedule that was run or left out."),
  nextScheduleTime: z.string().optional(),
  lastGoodBackup: z
    .object({ name: z.string(), takenAt: z.string(), position: z.string().optional() })
    .optional()
    .describe("The newest backup that was verified."),
  recoverableWindow: z
    .object({ from: z.string(), to: z.string() })
    .optional()
    .describe("The times of the oldest and the newest good backup."),
  goodBackups: z.int().optional(),
  active: z.array(z.string()).optional().describe("Backups that have not finished."),
  message: z.string().optional().describe("What the plan waits for, or why it does not run."),
  conditions: conditions().optional(),
});

/** The kind BackupPlan, `data.setpoint.dev/v1`. Deleting it keeps its Backups. */
export const BackupPlan = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "BackupPlan",
  categories: ["data"],
  spec,
  status,
  selectableFields: ["spec.instance.apiGroup", "spec.instance.kind"],
  printerColumns: {
    Instance: "spec.instance.name",
    Schedule: "spec.schedule",
    Suspended: "spec.suspend",
    Good: "status.goodBackups",
    Last: "status.lastGoodBackup.takenAt",
    Next: "status.nextScheduleTime",
    Message: { path: "status.message", priority: 1 },
    Age: age(),
  },
  rules: [
    rule("size(self.metadata.name) <= 52", "the name may have at most 52 characters, because Backups' names add to it"),
    keepsInstance("BackupPlan"),
  ],
});
export type BackupPlan = ObjectOf<typeof BackupPlan>;
