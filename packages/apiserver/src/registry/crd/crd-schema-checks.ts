/** The checks of a CRD's schema that need more than its keywords: structure, patterns, defaults, rules. */
import type { FieldError } from "@setpoint/apimachinery";
import {
  compilePattern,
  decode,
  patternFault,
  type RuleCompiler,
  type StructuralSchema,
  validateSchema,
  validateStructural,
} from "@setpoint/schema";
import { invalidValue } from "../field-errors.ts";
import type { SchemaCheck } from "./crd-validation.ts";

/** In the order in which they run; each only when those before it found nothing. */
export function schemaChecks(compileRules: RuleCompiler | undefined): readonly SchemaCheck[] {
  const structural: SchemaCheck = (schema, path) => validateStructural(schema, path);
  const values: SchemaCheck = (schema, path) =>
    walk(schema, path, (node, at) => [...patternErrors(node, at), ...defaultErrors(node, at)]);
  if (compileRules === undefined) return [structural, values];
  const rules: SchemaCheck = (schema, path) =>
    compileRules(schema, path).errors.map((error) => ({ ...error, field: joined(path, error.field) }));
  return [structural, values, rules];
}

function joined(path: string, field: string): string {
  if (field === "" || field.startsWith(path)) return field === "" ? path : field;
  return field.startsWith("[") || field.startsWith(".") ? path + field : `${path}.${field}`;
}

function walk(
  schema: StructuralSchema,
  path: string,
  visit: (node: StructuralSchema, path: string) => readonly FieldError[],
): readonly FieldError[] {
  const errors: FieldError[] = [...visit(schema, path)];
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    errors.push(...walk(child, `${path}.properties[${name}]`, visit));
  if (schema.items !== undefined) errors.push(...walk(schema.items, `${path}.items`, visit));
  if (typeof schema.additionalProperties === "object")
    errors.push(...walk(schema.additionalProperties, `${path}.additionalProperties`, visit));
  return errors;
}

function patternErrors({ pattern }: StructuralSchema, path: string): readonly FieldError[] {
  if (pattern === undefined || pattern === "" || compilePattern(pattern) !== undefined) return [];
  const why = patternFault(pattern) ?? "it takes too long";
  return [invalidValue(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`)];
}

function defaultErrors(schema: StructuralSchema, path: string): readonly FieldError[] {
  const value = schema.default;
  if (value === undefined) return [];
  const field = `${path}.default`;
  const { unknownFields } = decode(holder(schema), { value }, { unknown: "report", wrongTypes: "keep" });
  if (unknownFields.length > 0) return [invalidValue(field, value, "must not have unknown fields")];
  return validateSchema(schema, value).map((error) => ({ ...error, field: joined(field, error.field) }));
}

/**
 * An object with spelled-out metadata around the schema, so that the default is not read as an object of the
 * API itself.
 */
function holder(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = { type: "object", properties: { resourceVersion: { type: "string" } } };
  return { type: "object", properties: { metadata, value: schema } };
}
