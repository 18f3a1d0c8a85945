/** The fields of an instance about members that a user keeps stopped. */
import type { DeepReadonly } from "setpoint/kinds";
import { z } from "zod";

/** In place of a name: every member. */
export const allMembers = "*";

const membersMax = 100;

/** The field of a spec with the members that a user keeps stopped. */
export const fencingSpec = z
  .object({
    members: z
      .array(z.string().min(1).max(253))
      .max(membersMax)
      .default([])
      .describe(
        `Names of members that stop and stay stopped until they are removed from this list; "${allMembers}" is every member. Their volumes and their membership stay, and nothing replaces them.`,
      ),
    allowQuorumLoss: z
      .boolean()
      .default(false)
      .describe("Whether members may be fenced although too few are left to answer clients."),
  })
  .describe("Members that a user keeps stopped, for example to look at their data.");

/** What the status of an instance says about it. */
export const fencingStatus = z
  .object({
    members: z
      .array(
        z.object({
          name: z.string(),
          state: z.enum(["Stopping", "Stopped"]),
          since: z.string().describe("When the operator accepted it."),
        }),
      )
      .describe("Members that are fenced."),
    refused: z
      .array(z.object({ member: z.string(), reason: z.string() }))
      .optional()
      .describe("Entries of spec.fencing.members that the operator does not follow, and why."),
  })
  .describe("Present when a member is fenced, or when that was refused.");

/** The members that a user wants fenced. */
export type FencingSpec = DeepReadonly<z.infer<typeof fencingSpec>>;
/** The members that are fenced, and the refused ones. */
export type FencingStatus = DeepReadonly<z.infer<typeof fencingStatus>>;
