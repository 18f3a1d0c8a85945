/** The fields of an EtcdCluster about the space that etcd's data take. */
import { z } from "zod";

const percentMax = 99;
const sizeMiBDefault = 100;
const freePercentDefault = 50;

export const maintenanceSpec = z
  .object({
    defragmentation: z
      .object({
        schedule: z
          .string()
          .max(100)
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
  })
  .default({ defragmentation: { whenFreePercent: freePercentDefault, minDbSizeMiB: sizeMiBDefault } })
  .describe("When members give space back. They do it one at a time, the leader last, and only while all are healthy.");

export const defragmentationStatus = z
  .object({
    reason: z
      .enum(["Schedule", "FreeSpace", "NoSpace"])
      .describe("NoSpace: etcd accepts no writes, because its quota is used up."),
    started: z.string(),
    members: z.array(z.string()).describe("Members whose turn has come."),
    finished: z.string().optional(),
  })
  .describe("The latest defragmentation.");

/** What etcd takes as its quota without one. */
export const quotaBytesDefault = 2_147_483_648;
