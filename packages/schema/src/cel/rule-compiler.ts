import type { FieldError } from "@setpoint/apimachinery";
import type { RuleCompiler } from "../rule-evaluator.ts";
import { CostBudget } from "./cost-budget.ts";
import { runRules } from "./rule-run.ts";
import { compileTree } from "./rule-tree.ts";

/** Compiles the CEL rules of a schema; `errors` are those that a CRD with the schema is refused for. */
export const celRuleCompiler: RuleCompiler = (schema, path = "") => {
  const errors: FieldError[] = [];
  const budget = new CostBudget();
  const place = { path, isResource: true, uncorrelatable: undefined, cardinality: 1, budget };
  const root = compileTree(schema, place, errors);
  errors.push(...budget.errors(path));
  return { errors, evaluate: (value, old) => (root === undefined ? [] : runRules(root, value, old)) };
};
