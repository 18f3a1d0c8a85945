/** The kind AppendLog: a primary and a replica that keep a list of entries. */
import { archiveReportSchema, dataClaimStatus } from "@setpoint/data-service";
import { age, conditions, defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";

const spec = z.object({
  members: z.int().min(1).max(2).default(2).describe("A primary, and a replica when there are two."),
  store: z.string().max(253).optional().describe("The BackupStore that the log is archived in."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  serving: z.boolean(),
  podIP: z.string().optional(),
  primary: z.string().optional().describe("The member that accepts entries."),
  timeline: z.int().optional().describe("The history that it writes."),
  position: z.int().optional().describe("How many entries it was known to have."),
  members: z.array(z.object({ name: z.string(), role: z.string(), timeline: z.int(), position: z.int() })).optional(),
  archive: archiveReportSchema.optional(),
  ...dataClaimStatus,
  conditions: conditions().optional(),
});

/** The kind AppendLog, `appendlog.setpoint.dev/v1`. */
export const AppendLog = defineKind({
  group: "appendlog.setpoint.dev",
  version: "v1",
  kind: "AppendLog",
  spec,
  status,
  printerColumns: { Primary: "status.primary", Timeline: "status.timeline", Age: age() },
});
export type AppendLog = ObjectOf<typeof AppendLog>;
