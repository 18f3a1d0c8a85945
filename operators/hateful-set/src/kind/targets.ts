/** What a HatefulSet strikes at, as its spec says it. */
import { rule, field } from "setpoint";
import { type DeepReadonly, labelSelector } from "setpoint/kinds";
import { z } from "zod";

/** So many alternatives are enough, and bound what the rules about them cost. */
const targetsMax = 10;

const target = field(
  z.object({
    type: z
      .enum(["Pod", "Role"])
      .describe("Pod: evicts any pod. Role: evicts the pod that has the role now, such as the leader."),
    role: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe(
        "With type Role: a role of the target's own status or of a label of its pods, such as leader or primary.",
      ),
    selector: labelSelector().optional().describe("Only pods with these labels."),
  }),
  {
    description: "One alternative; an act picks one of them by chance.",
    rules: [rule("(self.type == 'Role') == has(self.role)", "type Role needs a role, and no other type has one")],
  },
);

export const targetsSpec = z
  .array(target)
  .min(1)
  .max(targetsMax)
  .optional()
  .describe("What is struck; any pod when absent.");

/** One alternative of `spec.targets`. */
export type TargetSpec = DeepReadonly<z.output<typeof target>>;

export const anyPod: TargetSpec = { type: "Pod" };
