/** The rules of a whole schema, in a tree that follows it: only branches with rules are in it. */
import type { FieldError } from "@setpoint/apimachinery";
import { hasRules } from "../has-rules.ts";
import { isEmbedded } from "../object-meta-schema.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { compileRule, type CompiledRule } from "./compiled-rule.ts";
import type { Cardinality, CostBudget } from "./cost-budget.ts";
import { declaredSize } from "./declared-size.ts";
import type { Shape } from "./schema-values.ts";
import { shapeOf } from "./shape.ts";

export interface RuleNode {
  readonly schema: StructuralSchema;
  readonly shape: Shape | undefined;
  readonly rules: readonly CompiledRule[];
  readonly fields: readonly (readonly [string, RuleNode])[];
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

export interface NodePlace {
  readonly path: string;
  readonly isResource: boolean;
  readonly uncorrelatable: string | undefined;
  readonly cardinality: Cardinality;
  readonly budget: CostBudget;
}

/** Undefined when there are no rules at or below the schema. */
export function compileTree(schema: StructuralSchema, place: NodePlace, errors: FieldError[]): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const { path, isResource, uncorrelatable, budget } = place;
  const cardinality = childCardinality(schema, place.cardinality);
  const join = (part: string): string => (path === "" ? part : `${path}.${part}`);
  const child = (below: StructuralSchema, part: string, lost?: string): RuleNode | undefined =>
    compileTree(
      below,
      {
        path: join(part),
        isResource: isEmbedded(below),
        uncorrelatable: uncorrelatable ?? lost,
        cardinality,
        budget,
      },
      errors,
    );
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, below]) => {
    const node = child(below, `properties[${name}]`);
    return node === undefined ? [] : [[name, node] as const];
  });
  const { additionalProperties, items } = schema;
  const values =
    typeof additionalProperties === "object" ? child(additionalProperties, "additionalProperties") : undefined;
  const lost = schema["x-kubernetes-list-type"] === "map" ? undefined : path;
  const itemNode = items === undefined ? undefined : child(items, "items", lost);
  const own = schema["x-kubernetes-validations"] ?? [];
  const declared = own.length === 0 ? undefined : declaredSize(schema, isResource);
  const shape = own.length === 0 ? undefined : shapeOf(schema, isResource, "selfType");
  if (own.length > 0 && shape === undefined)
    errors.push({
      type: "InternalError",
      field: join("x-kubernetes-validations"),
      message: "Internal error: internal error: failed to retrieve type information for x-kubernetes-validations",
    });
  const rules = own.flatMap((rule, index) => {
    if (shape === undefined || declared === undefined) return [];
    const at = join(`x-kubernetes-validations[${index}]`);
    const rulePlace = { path: at, uncorrelatable, cardinality: place.cardinality, declared, budget };
    const compiled = compileRule(rule, shape, schema, rulePlace, errors);
    return compiled === undefined ? [] : [compiled];
  });
  return { schema, shape, rules, fields, values, items: itemNode };
}

/** Lists and maps multiply what is below them, by their maximum if they have one. */
function childCardinality(schema: StructuralSchema, own: Cardinality): Cardinality {
  const { type, additionalProperties, maxItems, maxProperties } = schema;
  const isMap = type === "object" && additionalProperties !== undefined;
  if (own === undefined || (!isMap && type !== "array")) return own;
  const max = isMap ? maxProperties : maxItems;
  return max === undefined ? undefined : own * max;
}
