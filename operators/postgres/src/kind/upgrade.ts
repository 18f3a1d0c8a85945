/** What a user says about a change of the major version, and how far it is. */
import { z } from "zod";

const version = z.enum(["15", "17"]);
const hoursMax = 8_760;
const weekHours = 168;

export const upgradeSpec = z
  .object({
    safetyCopyHours: z
      .int()
      .min(0)
      .max(hoursMax)
      .default(weekHours)
      .describe(
        "For how long the data from before an upgrade stay on the volume of the instance that was upgraded; 0 deletes them at once.",
      ),
    loseWritesSince: z
      .string()
      .max(40)
      .optional()
      .describe(
        "Consent to lose all that was written since status.upgrade.upgradedAt, whose text it must have, so that spec.version can be the older one again.",
      ),
  })
  .describe("How a change of the major version is done.");

export const upgradeStatus = z
  .object({
    phase: z.enum([
      "Preparing",
      "Checking",
      "Refused",
      "Stopping",
      "Upgrading",
      "Starting",
      "Analyzing",
      "Completed",
      "Failed",
      "Returning",
      "Returned",
    ]),
    id: z.string().describe("Of this one attempt."),
    from: version,
    to: version,
    instance: z.string().describe("The instance whose data are upgraded; the others copy them."),
    startedAt: z.string().optional(),
    problems: z.array(z.string()).optional().describe("Why it is refused or was taken back, and what to do."),
    timeline: z.int().optional().describe("The timeline that the upgraded data begin."),
    previousSystemID: z.string().optional().describe("The identifier of the data from before."),
    previousImage: z.string().optional().describe("The spec.image from before."),
    upgradedAt: z.string().optional().describe("When the upgraded data accepted their first writes."),
    safetyCopy: z
      .object({ instance: z.string(), version, until: z.string() })
      .optional()
      .describe("The data from before, to which spec.version can go back."),
  })
  .describe("The last change of the major version.");
