/**
 * Compiles the rules of a kind, so that `defineKind` reports a wrong rule before a cluster does.
 */
import { SetpointError, type FieldError } from "@setpoint/apimachinery";
import { celRuleCompiler } from "./cel/index.ts";
import type { RuleEvaluator } from "./rule-evaluator.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export function compileKindRules(kind: string, schema: StructuralSchema): RuleEvaluator {
  const rules = celRuleCompiler(schema);
  if (rules.errors.length === 0) return rules;
  throw new SetpointError("ERR_RULE_INVALID", `Cannot define kind "${kind}": ${rules.errors.map(sentence).join("; ")}`);
}

/**
 * The server prints the whole rule before what is wrong with it; here the quoted line and its caret say
 * enough.
 */
function sentence({ field, message }: FieldError): string {
  const [where = "", index = ""] = field.split(/\.?x-kubernetes-validations/);
  const path = where
    .replace(/(?:^|\.)properties\[([^\]]*)\]/g, ".$1")
    .replace(/\.items/g, "[]")
    .replace(/\.additionalProperties/g, "[*]")
    .replace(/^\./, "");
  const problem = message
    .replace(/^Invalid value: \{"Rule":.*?"OptionalOldSelf":\w+\}: /, "")
    .replace(/^compilation failed: /, "");
  return `rule ${index.replace(/\.rule$/, "")} of ${path === "" ? "the object" : path}: ${problem}`;
}
