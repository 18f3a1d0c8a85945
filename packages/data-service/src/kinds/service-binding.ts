/** The kind ServiceBinding: one user of one instance, and the Secret by which an application logs in. */
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { duration, labelSelector } from "setpoint/kinds";
import { z } from "zod";
import { instanceReference, keepsInstance } from "./instance.ts";

const name = z.string().min(1).max(253);
const text = z.string().max(200);

const rotation = z
  .object({
    every: duration()
      .max(20)
      .optional()
      .describe("How old a login becomes before the next one replaces it. Without it, only `request` rotates."),
    overlap: duration()
      .max(20)
      .default("1h")
      .describe("How long the old login still works after the new one is in the Secret."),
    request: z.string().max(63).optional().describe("Any other text than before rotates the login now."),
  })
  .describe("When the login is replaced by a new user with a new password.");

const workload = z
  .object({
    apiVersion: text.describe("The API version of the workloads, as apps/v1."),
    kind: text.describe("The kind of the workloads, as Deployment."),
    name: name.optional().describe("The name of the one workload."),
    selector: labelSelector().optional().describe("The labels of the workloads."),
    containers: z.array(text).max(50).optional().describe("The containers that get the binding; default: all."),
  })
  .describe("The workloads that get the Secret's content, as in servicebinding.io: a name or a selector.");

const spec = z.object({
  instance: instanceReference,
  rights: z
    .record(z.string(), text)
    .meta({ maxProperties: 50 })
    .default({})
    .describe("What the user may do, in the engine's own terms. The instance refuses what it does not know."),
  rotation: rotation.default({ overlap: "1h" }),
  secretName: name.optional().describe("The Secret with the login; default: the name of the ServiceBinding."),
  workload: workload.optional(),
});

const login = z.object({
  user: z.string(),
  generation: z.int(),
  state: z
    .enum(["Pending", "Active", "Retiring"])
    .describe(
      "Pending: the user is about to be created. Active: it is in the Secret. Retiring: it works until its overlap ends.",
    ),
  since: z.string(),
  rights: z.record(z.string(), z.string()).optional().describe("The rights that the user has."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  binding: z
    .object({ name: z.string() })
    .optional()
    .describe("The Secret, as servicebinding.io defines it for provisioned services."),
  generation: z.int().optional().describe("The number of the newest login."),
  logins: z.array(login).optional().describe("Every user that may be in the instance, written before it is created."),
  rotationRequest: z.string().optional().describe("The rotation request that was last carried out."),
  restored: z
    .string()
    .optional()
    .describe("The restore of the instance after which users that had been dropped were dropped again."),
  nextRotation: z.string().optional(),
  conditions: conditions().optional(),
});

/** The kind ServiceBinding, `data.setpoint.dev/v1`: a provisioned service of servicebinding.io. */
export const ServiceBinding = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "ServiceBinding",
  categories: ["data"],
  spec: field(spec, {
    rules: [
      rule(
        "!has(self.workload) || has(self.workload.name) != has(self.workload.selector)",
        "a workload has a name or a selector, and not both",
        { fieldPath: ".workload" },
      ),
    ],
  }),
  status,
  // An operator sees only the bindings of its own kind of instance.
  selectableFields: ["spec.instance.apiGroup", "spec.instance.kind"],
  printerColumns: {
    Kind: "spec.instance.kind",
    Instance: "spec.instance.name",
    Secret: "status.binding.name",
    Rotation: { path: "status.nextRotation", priority: 1 },
    Age: age(),
  },
  rules: [
    keepsInstance("ServiceBinding"),
    rule(
      "has(self.spec.secretName) == has(oldSelf.spec.secretName) && (!has(self.spec.secretName) || self.spec.secretName == oldSelf.spec.secretName)",
      "immutable: create another ServiceBinding instead",
      { fieldPath: ".spec.secretName" },
    ),
  ],
});
export type ServiceBinding = ObjectOf<typeof ServiceBinding>;
export type Login = NonNullable<NonNullable<ServiceBinding["status"]>["logins"]>[number];
