/** The fields of an EtcdCluster about the space that etcd's data take. */
import { cronLine, quantity } from "setpoint/kinds";
import { z } from "zod";

const percentMax = 99;
const sizeMiBDefault = 100;
const freePercentDefault = 50;
const usedPercentDefault = 80;

const volumeGrowth = z
  .object({
    whenUsedPercent: z
      .int()
      .min(1)
      .max(percentMax)
      .default(usedPercentDefault)
      .describe("A volume grows when etcd's file takes so much of it."),
    step: quantity().describe("By how much a volume grows at a time, such as 1Gi."),
    max: quantity().describe("The size beyond which no volume grows by itself, such as 20Gi."),
  })
  .describe("When the volume of a member grows by itself, if its class of storage allows it. It never shrinks.");

export const maintenanceSpec = z
  .object({
    defragmentation: z
      .object({
        schedule: cronLine()
          .optional()
          .describe("A cron line in UTC: all members are defragmented then, whatever their size."),
        whenFreePercent: z
          .int()
          .min(1)
          .max(percentMax)
          .default(freePercentDefault)
          .describe("A member is defragmented when so much of its file is free."),
        minDbSizeMiB: z
          .int()
          .min(1)
          .default(sizeMiBDefault)
          .describe("Below this size of its file a member is defragmented by schedule only."),
      })
      .default({ whenFreePercent: freePercentDefault, minDbSizeMiB: sizeMiBDefault })
      .describe("When a member rewrites its file without the free space in it."),
    volumeGrowth: volumeGrowth.optional(),
  })
  .default({ defragmentation: { whenFreePercent: freePercentDefault, minDbSizeMiB: sizeMiBDefault } })
  .describe("When members give space back. They do it one at a time, the leader last, and only while all are healthy.");

export const defragmentationStatus = z
  .object({
    reason: z
      .enum(["Schedule", "FreeSpace", "NoSpace", "Request"])
      .describe(
        "Request: a user or an Operation asked for it. NoSpace: etcd accepts no writes, because its quota is used up.",
      ),
    started: z.string(),
    request: z.string().optional().describe("The text of the annotation that asked for it."),
    members: z.array(z.string()).describe("Members whose turn has come."),
    finished: z.string().optional(),
  })
  .describe("The latest defragmentation.");

/** What etcd takes as its quota without one. */
export const quotaBytesDefault = 2_147_483_648;
