/**
 * The kind ServiceBinding of servicebinding.io: projects the Secret of a provisioned service into workloads.
 */
import { age, conditions, defineKind, field, type ObjectOf, rule } from "setpoint";
import { labelSelector } from "setpoint/kinds";
import { z } from "zod";
import { dataLabels } from "./labels.ts";

const text = z.string().min(1).max(253);

const service = z.object({ apiVersion: text, kind: text, name: text });

const workload = z.object({
  apiVersion: text,
  kind: text,
  name: text.optional(),
  selector: labelSelector().optional(),
  containers: z.array(text).max(50).optional(),
});

const spec = z.object({
  name: text.optional().describe("The folder below SERVICE_BINDING_ROOT; default: the name of the ServiceBinding."),
  service: service.describe(
    `A provisioned service, or a Secret, in the same namespace. A Secret that does not belong to a provisioned service needs the label ${dataLabels.workloadBinding}=true.`,
  ),
  workload: workload.describe("The workloads that get the binding, by name or by selector."),
  env: z
    .array(z.object({ name: text, key: text }))
    .max(50)
    .optional()
    .describe("Keys of the Secret that containers get as environment variables too."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  binding: z.object({ name: z.string() }).optional(),
  conditions: conditions().optional(),
});

/** `servicebinding.io/v1` ServiceBinding, without the overrides of `type` and `provider`. */
export const WorkloadBinding = defineKind({
  group: "servicebinding.io",
  version: "v1",
  kind: "ServiceBinding",
  spec: field(spec, {
    rules: [
      rule(
        "has(self.workload.name) != has(self.workload.selector)",
        "a workload has a name or a selector, and not both",
        { fieldPath: ".workload" },
      ),
    ],
  }),
  status,
  printerColumns: { Service: "spec.service.name", Secret: "status.binding.name", Age: age() },
});
export type WorkloadBinding = ObjectOf<typeof WorkloadBinding>;
