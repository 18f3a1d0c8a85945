import { rule } from "setpoint";
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
    name: z.string().min(1).max(nameLengthMax).describe("The name of the instance."),
  })
  .describe("The instance, in the same namespace.");

/** Where a store has the backups of an instance, and its log. A later one of the name has another UID. */
export function storedFolder({ kind, name }: Pick<InstanceReference, "kind" | "name">, namespace: string, uid: string) {
  return `${kind.toLowerCase()}/${namespace}/${name}/${uid}`;
}

export type InstanceReference = z.infer<typeof instanceReference>;

/** Refuses a change of `spec.instance`, in an object of the kind with this name. */
export function keepsInstance(kind: string): ReturnType<typeof rule> {
  return rule("self.spec.instance == oldSelf.spec.instance", `immutable: create another ${kind} instead`, {
    fieldPath: ".spec.instance",
  });
}
