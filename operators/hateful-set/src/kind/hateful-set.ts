/** The kind HatefulSet: chaos with a conscience. */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { labelSelector, timeZone } from "setpoint/kinds";
import { z } from "zod";
import { actRecord } from "./act-record.ts";
import { targetsSpec } from "./targets.ts";

const clockTime = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/);
const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

const chaosWindow = z
  .object({
    days: z.array(z.enum(days)).min(1).max(7).optional().describe("On which days; on all when absent."),
    from: clockTime.default("00:00").describe("From when, such as 10:00."),
    to: clockTime.default("23:59").describe("Until when, excluded; before `from` means on the next day."),
    timeZone: timeZone().default("Etc/UTC").describe("The time zone of the days and times."),
  })
  .describe("When acts may happen. Intervals outside of it bring none, and requests wait for it.");

const safety = z
  .object({
    budgets: z
      .enum(["Respect", "Ignore"])
      .default("Respect")
      .describe("Whether pods are evicted as their PodDisruptionBudgets allow. Ignore: they are deleted."),
    quorum: z
      .enum(["Respect", "Ignore"])
      .default("Respect")
      .describe("Whether enough healthy members must remain, of kinds that report members with roles."),
    unhealthy: z.enum(["Wait", "Ignore"]).default("Wait").describe("Whether an act waits until the target is healthy."),
  })
  .describe("What protects a target.");

const abort = z
  .object({
    afterSeconds: z
      .int()
      .min(10)
      .max(86_400)
      .default(600)
      .describe("A target that has not recovered from an act after so many seconds ends the chaos."),
    conditions: z
      .array(z.object({ type: z.string().max(316), status: z.enum(["True", "False", "Unknown"]).default("True") }))
      .max(20)
      .optional()
      .describe("Conditions of a target's own status that end the chaos at once."),
  })
  .describe("When the chaos ends, until the spec changes or the annotation control-plane.io/resume gets a new text.");

const spec = z.object({
  chaosLevel: z
    .int()
    .min(0)
    .max(10)
    .describe("In how many of ten intervals an act happens: 10 is one act each interval, 0 only acts on request."),
  interval: z.int().min(5).max(604_800).describe("Seconds from one decision to the next."),
  jitter: z
    .int()
    .min(0)
    .max(100)
    .default(20)
    .describe("By how many percent of the interval a decision may come earlier or later."),
  seed: z.int().min(0).optional().describe("Equal seeds decide alike; the object's UID when absent."),
  dryRun: z.boolean().default(false).describe("Whether acts are only recorded."),
  suspend: z.boolean().default(false).describe("Whether no new act begins."),
  window: chaosWindow.optional(),
  selector: labelSelector().optional().describe("Only pods with these labels. They must be opted in all the same."),
  targets: targetsSpec,
  gracePeriodSeconds: z
    .int()
    .min(0)
    .max(3_600)
    .optional()
    .describe("How long an evicted pod may take to stop; 0 kills it. Its own grace period when absent."),
  safety: safety.optional(),
  budget: z
    .object({
      acts: z.int().min(1).max(1_000).describe("So many acts"),
      seconds: z.int().min(1).max(604_800).default(3_600).describe("in so many seconds."),
    })
    .default({ acts: 12, seconds: 3_600 })
    .describe("How many acts may happen in a time, requests included."),
  abort: abort.optional(),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  interval: z.int().describe("The number of the next decision; decisions follow from the seed and this number."),
  nextDecision: z.string().optional().describe("When it is made."),
  lastRequest: z.string().optional().describe("The latest request by annotation that was answered."),
  declined: z.string().optional().describe("Why the latest request struck nobody."),
  recentActs: z.array(z.string()).optional().describe("When the acts that count for the budget were decided."),
  total: z.int().describe("How many acts were decided."),
  recovered: z.int().describe("From how many of them the target has recovered."),
  slowestRecoverySeconds: z.int().optional(),
  aborted: z
    .object({ at: z.string(), reason: z.string(), generation: z.int(), resume: z.string().optional() })
    .optional()
    .describe("Why no more acts happen, until the spec changes or the annotation gets a new text."),
  acts: z.array(actRecord).optional().describe("The latest acts, oldest first."),
  conditions: conditions().optional(),
});

/** The kind HatefulSet, `control-plane.io/v1`. */
export const HatefulSet = defineKind({
  group: "control-plane.io",
  version: "v1",
  kind: "HatefulSet",
  shortNames: ["hate"],
  spec,
  status,
  rules: [
    rule(
      "size(self.metadata.name) <= 63",
      "the name may have at most 63 characters, because faults have it as a label",
    ),
  ],
  printerColumns: {
    Level: "spec.chaosLevel",
    Acts: "status.total",
    Recovered: "status.recovered",
    Slowest: "status.slowestRecoverySeconds",
    Next: "status.nextDecision",
    Age: age(),
  },
});
export type HatefulSet = ObjectOf<typeof HatefulSet>;

/** What is written when the spec says nothing of safety. */
export const safetyDefaults = { budgets: "Respect", quorum: "Respect", unhealthy: "Wait" } as const;
export const abortAfterSecondsDefault = 600;
