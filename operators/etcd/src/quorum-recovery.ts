/**
 * The fields of an EtcdCluster about a majority that is lost for good: what a user allows, and what was done.
 */
import { z } from "zod";

const fencingSecondsMin = 10;
const fencingSecondsMax = 86_400;
const fencingSecondsDefault = 120;

/** The annotation with which a user approves a recovery that may lose writes. */
export const approvalAnnotation = "etcd.setpoint.dev/approve-quorum-recovery";

export const quorumRecoverySpec = z
  .object({
    policy: z
      .enum(["never", "afterTimeout", "onApproval"])
      .default("onApproval")
      .describe(
        `Whether the cluster goes on from one survivor: never, as soon as fencingSeconds are over, or when a user sets the annotation ${approvalAnnotation} to the value that the status shows.`,
      ),
    fencingSeconds: z
      .int()
      .min(fencingSecondsMin)
      .max(fencingSecondsMax)
      .default(fencingSecondsDefault)
      .describe("How long a member must give no sign of life before it counts as lost for good."),
  })
  .default({ policy: "onApproval", fencingSeconds: fencingSecondsDefault })
  .describe("What happens when a majority of the members is lost for good. Writes may be lost by going on.");

export const quorumRecoveryStatus = z
  .object({
    state: z
      .enum(["Waiting", "Recovering", "Growing", "Recovered"])
      .describe(
        "Waiting: for consent. Recovering: the others are stopped, then the survivor starts alone. Growing: new members join.",
      ),
    since: z.string().describe("When the loss of the majority was found."),
    approval: z.string().optional().describe(`What to set the annotation ${approvalAnnotation} to.`),
    lost: z.array(z.string()).describe("Members that are lost for good."),
    survivors: z
      .array(z.object({ name: z.string(), revision: z.int(), raftIndex: z.int() }))
      .describe("Members that are there, the most advanced first."),
    survivor: z.string().optional().describe("The member from which the cluster goes on."),
    revision: z.int().optional().describe("The survivor's revision."),
    possibleLoss: z.string().describe("What is lost by going on."),
    fenced: z
      .array(z.string())
      .optional()
      .describe(
        "Members that were stopped and never come back; their volumes, if any, are kept until a user deletes them.",
      ),
    finished: z.string().optional().describe("When the cluster had its size again."),
  })
  .describe("The latest loss of the majority, and what was done about it.");

export const latestRevision = z
  .object({ revision: z.int(), seen: z.string() })
  .describe("The highest revision that the operator knew at its latest step: a recovery compares with it.");
