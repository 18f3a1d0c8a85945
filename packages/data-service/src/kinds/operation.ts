/** The kind Operation: one long operation on one instance, with its progress and its end. */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { z } from "zod";
import { instanceReference } from "./instance.ts";

/** What can be done to an instance; an engine says which of them it can do. */
export const operationTypes = ["Restart", "Defragment", "Switchover", "Hibernate", "Wake", "Fence", "Unfence"] as const;

const spec = z.object({
  instance: instanceReference,
  type: z
    .enum(operationTypes)
    .describe(
      "Restart: every member, one at a time. Defragment: gives free space back. Switchover: another member leads. Hibernate: all members stop and volumes stay, until Wake. Fence: a member stops and stays stopped, until Unfence.",
    ),
  member: z
    .string()
    .max(253)
    .optional()
    .describe('The member that it is about, for Switchover, Fence and Unfence; for the last two, "*" is every member.'),
  allowQuorumLoss: z.boolean().optional().describe("For Fence: whether too few members may be left to answer clients."),
  ignoreWindows: z.boolean().default(false).describe("Whether it may begin outside of a maintenance window."),
  cancel: z
    .boolean()
    .default(false)
    .describe("Gives up: an operation that has not begun is rejected, and one in progress stops after its step."),
  deadlineSeconds: z.int().min(10).max(604_800).default(3_600).describe("How long it may take once it has begun."),
  ttlSecondsAfterFinished: z
    .int()
    .min(0)
    .max(31_536_000)
    .optional()
    .describe("When the object is deleted after its end; without it, it stays."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  phase: z.enum(["Pending", "InProgress", "Succeeded", "Failed", "Rejected"]),
  reason: z.string().optional().describe("Why, in one word: DeadlineExceeded, Unsupported, InstanceMissing, …"),
  message: z.string().optional().describe("What it waits for, what it does, or how it ended."),
  progress: z.string().optional().describe("How much is done, such as 2/3."),
  instanceUID: z.string().optional(),
  startedAt: z.string().optional(),
  finishedAt: z.string().optional(),
  conditions: conditions().optional(),
});

/** The kind Operation, `data.setpoint.dev/v1`. */
export const Operation = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "Operation",
  categories: ["data"],
  spec,
  status,
  selectableFields: ["spec.instance.apiGroup", "spec.instance.kind"],
  printerColumns: {
    Type: "spec.type",
    Instance: "spec.instance.name",
    Phase: "status.phase",
    Progress: "status.progress",
    Message: { path: "status.message", priority: 1 },
    Age: age(),
  },
  rules: [
    rule(
      "self.spec.instance == oldSelf.spec.instance && self.spec.type == oldSelf.spec.type",
      "immutable: create another Operation instead",
    ),
    rule("!oldSelf.spec.cancel || self.spec.cancel", "a cancelled operation cannot be resumed: create another one"),
  ],
});
export type Operation = ObjectOf<typeof Operation>;
export type OperationType = (typeof operationTypes)[number];
