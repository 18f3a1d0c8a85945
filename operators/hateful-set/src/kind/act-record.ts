/** The record of one act, which the status keeps. */
import type { DeepReadonly } from "setpoint/kinds";
import { z } from "zod";

/** How many acts the status keeps; Events and the totals have the others. */
export const recordsMax = 20;
/** How many different sentences of a target are kept of one act. */
export const sayingsMax = 6;

const reference = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });

export const actRecord = z.object({
  id: z.string().describe("interval-N, or request-N with the N of the interval that it came before."),
  type: z.string(),
  victim: z.object({ kind: z.string(), name: z.string(), uid: z.string() }),
  role: z.string().optional().describe("The role that the victim had."),
  target: reference.describe("The object whose health is watched: the outermost owner of the victim."),
  lasting: z
    .object({
      policy: z.string().describe("The NetworkPolicy, which is the fault."),
      podLabels: z.record(z.string(), z.string()).describe("The pods that it cuts off."),
      until: z.string(),
      endedAt: z.string().optional(),
    })
    .optional()
    .describe("A fault that lasts until it is undone."),
  cause: z.string(),
  at: z.string().describe("When it was decided, before anything was done."),
  phase: z
    .enum(["Intended", "Struck", "Recovered", "NotRecovered", "Withdrawn", "Pretended"])
    .describe(
      "Intended: recorded, not done yet. Struck: the target has not recovered yet. Withdrawn: not done. Pretended: a dry run.",
    ),
  recoveredAfterSeconds: z.int().optional(),
  message: z.string().optional(),
  said: z
    .array(z.object({ at: z.string(), text: z.string() }))
    .optional()
    .describe("What the target's own status said from the act to the recovery."),
});

/** One act. */
export type ActRecord = DeepReadonly<z.output<typeof actRecord>>;

/** Whether the act is under way: at most one is. */
export function isOpen({ phase }: ActRecord): boolean {
  return phase === "Intended" || phase === "Struck";
}
