/** The fields of an instance's status about the claim with its data. */
import type { DeepReadonly } from "setpoint/kinds";
import { z } from "zod";

/** For the status of a kind whose server runs on one claim: spread it into the kind's own fields. */
export const dataClaimStatus = {
  claim: z.string().optional().describe("The claim with the data."),
  previousClaims: z.array(z.string()).optional().describe("Claims from before a restore in place."),
  restored: z.string().optional().describe("The restore whose data it has."),
  stoppedFor: z.string().optional().describe("The restore that it has stopped for."),
};

const fields = z.object(dataClaimStatus);
/** What the status says about the claim with the data. */
export type DataClaimStatus = DeepReadonly<z.infer<typeof fields>>;
