/** The steps that a change takes, as `setpoint plan` prints them. */
import { z } from "zod";

const plannedStep = z.object({
  action: z.string(),
  member: z.string().optional(),
  reason: z.string(),
  interruption: z.string().describe("What clients notice."),
  noReturn: z.string().optional().describe("Why there is no way back after this step."),
});

/** One step of a change. */
export type PlannedStep = z.infer<typeof plannedStep>;

/** The field `status.plannedSteps`, without its description. */
export const plannedSteps = z.array(plannedStep).optional();
