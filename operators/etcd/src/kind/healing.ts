/** The fields of an EtcdCluster about members that work badly, though they answer. */
import { z } from "zod";

/** etcd's own alert warns from here on. */
const millisecondsDefault = 500;
const secondsDefault = 600;
const dayMs = 86_400;

export const healingSpec = z
  .object({
    slowDisk: z
      .enum(["report", "replace"])
      .default("report")
      .describe(
        "What happens with a member whose disk is slow while those of the others are not: the status names it, or another member on another node and a new volume takes its place, at most one an hour.",
      ),
    slowDiskMilliseconds: z
      .int()
      .min(1)
      .max(60_000)
      .default(millisecondsDefault)
      .describe("A disk is slow when 1 of 100 writes of etcd's log takes longer to reach it."),
    slowDiskSeconds: z
      .int()
      .min(60)
      .max(dayMs)
      .default(secondsDefault)
      .describe("For how long a disk must be slow without a break."),
  })
  .default({ slowDisk: "report", slowDiskMilliseconds: millisecondsDefault, slowDiskSeconds: secondsDefault })
  .describe("What is done about members that answer and work badly.");

export const slowDisksStatus = z
  .object({
    members: z
      .array(
        z.object({
          name: z.string(),
          since: z.string().describe("When the operator reported it first."),
          p99Milliseconds: z.int().describe("At that time, at least this for 1 of 100 writes."),
        }),
      )
      .describe("Members whose disk is slow, until it is not."),
    replacing: z.string().optional().describe("The member whose place another one takes."),
    lastReplacement: z.string().optional().describe("When the latest replacement began; the next is an hour later."),
  })
  .describe("Present when a disk is or was slow.");
