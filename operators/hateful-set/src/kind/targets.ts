/** What a HatefulSet strikes at, as its spec says it. */
import { rule, field } from "setpoint";
import { type DeepReadonly, labelSelector } from "setpoint/kinds";
import { z } from "zod";

/** So many alternatives are enough, and bound what the rules about them cost. */
const targetsMax = 10;

const cannot = (type: string): string =>
  `the network cannot ${type.toLowerCase()} packets by any API of Kubernetes; use type Partition, or setpoint fault on the machine of setpoint up`;

const target = field(
  z.object({
    type: z
      .enum(["Pod", "Role", "Partition", "Delay", "Loss"])
      .describe(
        "Pod: evicts any pod. Role: evicts the pod that has the role now, such as the leader. Partition: a NetworkPolicy cuts a pod or a Service off for a while. Delay and Loss are refused.",
      ),
    role: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe(
        "With type Role or Partition: a role of the target's own status or of a label of its pods, such as leader or primary.",
      ),
    selector: labelSelector().optional().describe("Only pods with these labels."),
    service: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe("With type Partition: this Service is cut off, with all of its pods. They must be opted in."),
    durationSeconds: z.int().min(5).max(3_600).optional().describe("How long a Partition lasts; 60 when absent."),
  }),
  {
    description: "One alternative; an act picks one of them by chance.",
    rules: [
      rule("self.type != 'Role' || has(self.role)", "type Role needs a role"),
      rule("self.type in ['Role', 'Partition'] || !has(self.role)", "only type Role and Partition have a role"),
      rule("self.type == 'Partition' || !has(self.service)", "only type Partition has a service"),
      rule("self.type == 'Partition' || !has(self.durationSeconds)", "only type Partition lasts"),
      rule(
        "!has(self.service) || !(has(self.role) || has(self.selector))",
        "a service takes neither a role nor a selector",
      ),
      rule("self.type != 'Delay'", cannot("Delay")),
      rule("self.type != 'Loss'", cannot("Lose")),
    ],
  },
);

export const targetsSpec = z
  .array(target)
  .min(1)
  .max(targetsMax)
  .optional()
  .describe("What is struck; any pod when absent.");

export const partitionSecondsDefault = 60;

/** One alternative of `spec.targets`. */
export type TargetSpec = DeepReadonly<z.output<typeof target>>;

export const anyPod: TargetSpec = { type: "Pod" };
