import { z } from "zod";

const nameLengthMax = 253;

/** The data-service instance that an object is about, in the object's own namespace. */
export const instanceReference = z
  .object({
    apiGroup: z
      .string()
      .min(1)
      .max(nameLengthMax)
      .describe("The API group of the instance, such as etcd.setpoint.dev."),
    kind: z.string().min(1).max(63).describe("The kind of the instance, such as EtcdCluster."),
    name: z.string().min(1).max(nameLengthMax),
  })
  .describe("The instance, in the same namespace.");

export type InstanceReference = z.infer<typeof instanceReference>;
