/**
 * The kind RestoreDrill: restores the newest backup of an instance on a schedule, to know that it can be done
 * and how long it takes.
 */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { cronLine, preserved, timeZone } from "setpoint/kinds";
import { z } from "zod";
import { instanceReference, keepsInstance } from "./instance.ts";

/** How many drills a status keeps. */
export const historyMax = 5;

const spec = z.object({
  instance: instanceReference,
  schedule: cronLine().describe(
    "A cron line with five fields, or six with the second first, or a nickname such as @daily.",
  ),
  timeZone: timeZone().default("UTC").describe("The IANA name of the schedule's time zone."),
  suspend: z.boolean().default(false).describe("Whether no new drills begin."),
  newInstanceSpec: preserved()
    .optional()
    .describe("Merged over the spec of the instance, for instance to restore into fewer members."),
  deadlineSeconds: z.int().min(10).max(86_400).default(1_800).describe("How long one step of the restore may take."),
});

const outcome = z.object({
  name: z.string().describe("The Restore of the drill."),
  at: z.string().describe("The time of the schedule."),
  outcome: z.enum(["Succeeded", "Failed"]),
  backup: z.string().optional(),
  recoverySeconds: z
    .int()
    .optional()
    .describe("The measured RTO: from the start of the restore until the instance served."),
  dataAgeSeconds: z.int().optional().describe("The measured RPO: the age of the data at the time of the drill."),
  message: z.string().optional(),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  lastScheduleTime: z.string().optional(),
  nextScheduleTime: z.string().optional(),
  lastOutcome: z.enum(["Succeeded", "Failed"]).optional(),
  recoverySeconds: z.int().optional().describe("The RTO that the newest successful drill measured."),
  dataAgeSeconds: z.int().optional().describe("The RPO that the newest successful drill measured."),
  history: z.array(outcome).optional().describe("The newest drills, the newest first."),
  message: z.string().optional().describe("What the drill waits for."),
  conditions: conditions().optional(),
});

/** The kind RestoreDrill, `data.setpoint.dev/v1`. */
export const RestoreDrill = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "RestoreDrill",
  categories: ["data"],
  spec,
  status,
  selectableFields: ["spec.instance.apiGroup", "spec.instance.kind"],
  printerColumns: {
    Instance: "spec.instance.name",
    Schedule: "spec.schedule",
    Last: "status.lastOutcome",
    RTO: "status.recoverySeconds",
    RPO: "status.dataAgeSeconds",
    Next: "status.nextScheduleTime",
    Age: age(),
  },
  rules: [
    rule(
      "size(self.metadata.name) <= 30",
      "the name may have at most 30 characters, because instances' names add to it",
    ),
    keepsInstance("RestoreDrill"),
  ],
});
export type RestoreDrill = ObjectOf<typeof RestoreDrill>;
