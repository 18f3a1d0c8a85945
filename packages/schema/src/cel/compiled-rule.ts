/** One rule of a schema: compiled, with its errors. */
import type { FieldError } from "@setpoint/apimachinery";
import { goJson, goQuote } from "../go-value.ts";
import type { StructuralSchema, ValidationRule } from "../structural-schema.ts";
import { costOfAll, type Cardinality, type CostBudget } from "./cost-budget.ts";
import type { DeclaredSize } from "./declared-size.ts";
import { compile, type Program } from "./program.ts";
import type { Shape } from "./schema-values.ts";
import { optionalType, typeText, type CelType } from "./type.ts";

export interface CompiledRule {
  readonly source: ValidationRule;
  readonly program: Program;
  readonly message: Program | undefined;
  /** It compares with the object's past. */
  readonly usesOldSelf: boolean;
  /** Relative: `spec.replicas`. */
  readonly fieldPath: string;
}

export interface RulePlace {
  /** The path of the rule in the schema: `properties[spec].x-kubernetes-validations[0]`. */
  readonly path: string;
  /** Above the rule, items that have no past of their own: `properties[list]`. */
  readonly uncorrelatable: string | undefined;
  readonly cardinality: Cardinality;
  readonly declared: DeclaredSize;
  readonly budget: CostBudget;
}

export function compileRule(
  rule: ValidationRule,
  shape: Shape,
  schema: StructuralSchema,
  place: RulePlace,
  errors: FieldError[],
): CompiledRule | undefined {
  if (rule.rule.trim() === "") return undefined;
  const { path, uncorrelatable, declared, cardinality, budget } = place;
  const isOptional = rule.optionalOldSelf === true;
  const variables = new Map<string, CelType>([
    ["self", shape.type],
    ["oldSelf", isOptional ? optionalType(shape.type) : shape.type],
  ]);
  const program = compileAs(rule.rule, variables, "bool", declared);
  if (typeof program === "string") {
    const why = program === "" ? "cel expression must evaluate to a bool" : `compilation failed: ${program}`;
    errors.push(invalid(`${path}.rule`, printedRule(rule), why));
    return undefined;
  }
  const cost = costOfAll(program.worstCost, cardinality, declared);
  errors.push(...budget.observe(`${path}.rule`, "estimated rule cost", cost));
  const message = compileMessage(rule, variables, place, errors);
  const usesOldSelf = program.variables.has("oldSelf");
  if (usesOldSelf && uncorrelatable !== undefined) {
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
    errors.push(invalid(`${path}.rule`, goQuote(rule.rule), why));
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const why = "may not be set if oldSelf is not used in rule";
    errors.push(invalid(`${path}.optionalOldSelf`, String(rule.optionalOldSelf), why));
  }
  return { source: rule, program, message, usesOldSelf, fieldPath: relativePath(rule.fieldPath ?? "", schema) };
}

function compileMessage(
  rule: ValidationRule,
  variables: ReadonlyMap<string, CelType>,
  { path, declared, budget }: RulePlace,
  errors: FieldError[],
): Program | undefined {
  const { messageExpression = "" } = rule;
  if (messageExpression.trim() === "") return undefined;
  const program = compileAs(messageExpression, variables, "string", declared);
  const field = `${path}.messageExpression`;
  if (typeof program !== "string") {
    errors.push(...budget.observe(field, "estimated messageExpression cost", program.worstCost));
    return program;
  }
  const why =
    program === "" ? "messageExpression must evaluate to a string" : `messageExpression compilation failed: ${program}`;
  errors.push(invalid(field, printedRule(rule), why));
  return undefined;
}

/** The program, or its issues, or the empty text when its type is wrong. */
function compileAs(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  type: string,
  declared: DeclaredSize,
): Program | string {
  const program = compile(source, variables, declared);
  return typeof program === "string" || typeText(program.type) === type ? program : "";
}

function invalid(field: string, printed: string, why: string): FieldError {
  return { type: "FieldValueInvalid", field, message: `Invalid value: ${printed}: ${why}` };
}

/** As kube-apiserver prints a whole rule: its internal form, in that order. */
function printedRule({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule): string {
  const fields = {
    Rule: rule,
    Message: message ?? "",
    MessageExpression: messageExpression ?? "",
    Reason: reason ?? null,
    FieldPath: fieldPath ?? "",
    OptionalOldSelf: optionalOldSelf ?? null,
  };
  return `{${Object.entries(fields)
    .map(([name, value]) => `"${name}":${goJson(value)}`)
    .join(",")}}`;
}

/** `.spec['a.b']` → `spec[a.b]` where the schema has a map, `spec.a.b` where it has a field. */
function relativePath(fieldPath: string, schema: StructuralSchema): string {
  let path = "";
  let at: StructuralSchema | undefined = schema;
  for (const [, dotted, quoted = ""] of fieldPath.matchAll(/\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/g)) {
    const name = dotted ?? quoted.replace(/\\(.)/g, "$1");
    if (at?.properties === undefined) {
      path += `[${name}]`;
      at = typeof at?.additionalProperties === "object" ? at.additionalProperties : undefined;
    } else {
      path += path === "" ? name : `.${name}`;
      at = at.properties[name];
    }
  }
  return path;
}
