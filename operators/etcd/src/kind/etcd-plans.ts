/** Sizes of etcd by name: the field `plan` of an EtcdCluster, and the plans that there are. */
import { type CataloguePlan, readPlans } from "@setpoint/data-service";
import { compareQuantities, parseQuantity, quantity, quantityValue } from "setpoint/kinds";
import { z } from "zod";
import { allowedOptions } from "./allowed-options.ts";

const nameLengthMax = 63;

export const planSpec = z
  .string()
  .max(nameLengthMax)
  .optional()
  .describe(
    "The plan that gives CPU, memory, volumes and options of etcd, such as small. What the spec says itself wins.",
  );

const amounts = z.record(z.string(), z.string());

const recorded = z.object({
  resources: z.object({ requests: amounts.optional(), limits: amounts.optional() }).optional(),
  storage: z.string().optional().describe("Absent when volumeClaimTemplate decides."),
  options: amounts.optional(),
});

export const planStatus = z
  .object({ name: z.string(), gives: recorded.describe("Members keep this when the plan is no longer offered.") })
  .describe("The plan in force.");

/** What a plan gives to each member. */
export type PlanGives = z.infer<typeof recorded>;
export type EtcdPlan = CataloguePlan<PlanGives>;

/** CPU has no limit: a member that is throttled misses heartbeats. */
function plan(name: string, cpu: string, memory: string, storage: string, quotaGiB: number): EtcdPlan {
  return {
    name,
    description: `${cpu} CPU, ${memory} of memory, volumes of ${storage}, and at most ${quotaGiB} GiB of data`,
    released: "2026-11-25",
    gives: {
      resources: { requests: { cpu, memory }, limits: { memory } },
      storage,
      options: { "quota-backend-bytes": String(quotaGiB * gibibyte) },
    },
  };
}

const gibibyte = 1_073_741_824;

/**
 * A volume has room for the data twice, because a defragmentation copies them, and for the log. etcd
 * advises against more than 8 GiB of data.
 */
export const etcdPlans: readonly EtcdPlan[] = [
  plan("small", "250m", "1Gi", "4Gi", 1),
  plan("medium", "1", "4Gi", "8Gi", 2),
  plan("large", "4", "16Gi", "32Gi", 8),
];

/** Numbers are what YAML makes of a quantity without a unit. */
const text = z.union([z.string(), z.number()]).transform(String);
const amount = text.pipe(quantity());
const givenAmounts = z.record(z.string(), amount).optional();
const quotaOption = "quota-backend-bytes";

const fields = z.strictObject({
  resources: z.strictObject({ requests: givenAmounts, limits: givenAmounts }).optional(),
  storage: amount,
  options: z.record(z.string(), text).optional(),
});

/** What a file may give; it is checked because a user's spec cannot correct it. */
const given: z.ZodType<PlanGives> = fields.pipe(z.custom<z.infer<typeof fields>>().superRefine(checkGiven));

function checkGiven({ resources = {}, storage, options = {} }: z.infer<typeof fields>, context: z.RefinementCtx): void {
  const fault = (path: string[], message: string): void => context.addIssue({ code: "custom", path, message });
  for (const name of Object.keys(options))
    if (!allowedOptions.includes(name)) fault(["options", name], "the option does not only tune a member");
  for (const [name, request] of Object.entries(resources.requests ?? {})) {
    const limit = resources.limits?.[name];
    if (limit !== undefined && isLarger(request, limit))
      fault(["resources", "requests", name], `${request} is more than the limit of ${limit}`);
  }
  const quota = Number(options[quotaOption] ?? 0);
  if (!(quota < Number(quantityValue(parseQuantity(storage)))))
    fault(["options", quotaOption], `expected a number of bytes that a volume of ${storage} has room for`);
}

/** The file that a platform names replaces the plans above, or adds to them. */
export function plansOf(environment: Readonly<Record<string, string | undefined>>): readonly EtcdPlan[] {
  const file = environment["ETCD_PLANS_FILE"] ?? "";
  return file === "" ? etcdPlans : readPlans(file, given, etcdPlans);
}

/** Compares two quantities. */
export function isLarger(a: string, b: string): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b)) > 0;
}
