/**
 * The fields of an EtcdCluster about a majority that is lost for good: what a user allows, and what was done.
 */
import { z } from "zod";

const fencingSecondsMin = 10;
const fencingSecondsMax = 86_400;
const fencingSecondsDefault = 120;
/** A week: long enough to notice that something is missing. */
const keepCopySecondsDefault = 604_800;
const keepCopySecondsMax = 31_536_000;
const defaults = {
  policy: "onApproval",
  fencingSeconds: fencingSecondsDefault,
  withoutCopy: false,
  keepCopySeconds: keepCopySecondsDefault,
} as const;

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
    withoutCopy: z
      .boolean()
      .default(false)
      .describe(
        "Whether a recovery goes on without a copy of the survivor's data, for example because the volume has no room for one. Without a copy there is no way back.",
      ),
    keepCopySeconds: z
      .int()
      .min(0)
      .max(keepCopySecondsMax)
      .default(keepCopySecondsDefault)
      .describe(
        "How long the copy of the survivor's data stays on its volume after a recovery; 0 removes it as soon as the cluster has its size again. Its member restarts for that.",
      ),
  })
  .default(defaults)
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
    copy: z
      .object({
        folder: z.string().describe("The folder on the survivor's volume, as its container sees it."),
        bytes: z.int(),
        madeAt: z.string().describe("When the recovery had succeeded with this copy."),
        keptUntil: z.string().describe("When the survivor restarts and the copy is removed."),
        removedAt: z.string().optional(),
      })
      .optional()
      .describe("The survivor's data from before it started alone."),
    finished: z.string().optional().describe("When the cluster had its size again."),
  })
  .describe("The latest loss of the majority, and what was done about it.");

export const latestRevision = z
  .object({ revision: z.int(), seen: z.string() })
  .describe("The highest revision that the operator knew at its latest step: a recovery compares with it.");
