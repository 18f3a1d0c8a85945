/** A file of plans, by which a platform replaces or extends those of an operator. */
import { readFileSync } from "node:fs";
import { decodeYamlText, messageOf, SetpointError } from "@setpoint/apimachinery";
import { parse } from "yaml";
import { z } from "zod";
import type { CataloguePlan } from "./plan-catalogue.ts";

/** A customer reads all of them. */
const plansMax = 100;
const nameMax = 63;

const facts = {
  name: z
    .string()
    .max(nameMax)
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "expected lower case letters, digits and dashes"),
  description: z.string().optional(),
  released: z.iso.date().optional(),
  deprecated: z.iso.date().optional(),
  withdrawn: z.iso.date().optional(),
  reason: z.string().optional(),
};

/**
 * The plans of a file in YAML or JSON. With `builtIn: true` those of the operator stay, unless the file has
 * one of the same name. Throws `ERR_PLAN_CATALOGUE` with the path of every field that is wrong.
 */
export function readPlans<Gives>(
  file: string,
  gives: z.ZodType<Gives>,
  builtIn: readonly CataloguePlan<Gives>[],
): readonly CataloguePlan<Gives>[] {
  const schema = z.strictObject({
    builtIn: z.boolean().default(false),
    plans: z.array(z.strictObject({ ...facts, gives }).superRefine(checkDays)).max(plansMax),
  });
  const parsed = schema.superRefine(checkNames).safeParse(contentOf(file));
  if (!parsed.success)
    throw catalogueError(
      file,
      parsed.error.issues.map((issue) => `${pathText(issue.path)}${issue.message}`).join("; "),
    );
  const { plans } = parsed.data;
  const kept = builtIn.filter(({ name }) => !plans.some((each) => each.name === name));
  return parsed.data.builtIn ? [...kept, ...plans] : plans;
}

function contentOf(file: string): unknown {
  try {
    return parse(decodeYamlText(readFileSync(file)));
  } catch (cause) {
    // What follows the first line of yaml's messages is an excerpt.
    const [why = ""] = messageOf(cause).split("\n");
    throw catalogueError(file, why.replace(/:$/, ""));
  }
}

/** Days in their order: a plan is released, then deprecated, then withdrawn. */
function checkDays(
  plan: { readonly [day in (typeof days)[number]]?: string | undefined },
  context: z.RefinementCtx,
): void {
  const known = days.filter((day) => plan[day] !== undefined);
  for (const [index, day] of known.slice(1).entries()) {
    const earlier = known[index] ?? day;
    if (Date.parse(plan[day] ?? "") < Date.parse(plan[earlier] ?? ""))
      context.addIssue({ code: "custom", path: [day], message: `${plan[day]} is before ${earlier}, ${plan[earlier]}` });
  }
}

const days = ["released", "deprecated", "withdrawn"] as const;

function checkNames(
  { plans }: { readonly plans: readonly { readonly name: string }[] },
  context: z.RefinementCtx,
): void {
  for (const [index, { name }] of plans.entries()) {
    if (plans.findIndex((each) => each.name === name) < index)
      context.addIssue({ code: "custom", path: ["plans", index, "name"], message: `there is another plan "${name}"` });
  }
}

/** `plans[0].gives.storage: `, and nothing for the file as a whole. */
function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return text === "" ? "" : `${text.replace(/^\./, "")}: `;
}

function catalogueError(file: string, why: string): SetpointError {
  return new SetpointError("ERR_PLAN_CATALOGUE", `Cannot use plans "${file}": ${why}`);
}
