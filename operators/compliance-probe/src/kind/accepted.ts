/** Forbidden acts that are accepted for a time: in the spec, or in a ConfigMap. */
import { timestamp } from "setpoint/kinds";
import { z } from "zod";
import { catalogue } from "../acts/catalogue.ts";

const [first = "", ...rest] = catalogue.map(({ name }) => name);

/** The name of a forbidden act. */
export const actName: z.ZodEnum = z.enum([first, ...rest]);

export const acceptedMax = 100;

/** The key of a ConfigMap that has a list of them. */
export const baselineKey = "accepted.yaml";

export const acceptedAct = z.object({
  act: actName.describe("The name of the act."),
  reason: z.string().min(1).max(500).describe("Why it is accepted; reports show it."),
  until: timestamp().optional().describe("From then on it is accepted no longer. Without it, it always is."),
});
export type AcceptedAct = z.infer<typeof acceptedAct>;
