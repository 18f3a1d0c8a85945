/**
 * Where CEL plugs in: schemas contain rules as text, and the caller of validation passes in their compiler.
 */
import type { FieldError } from "@setpoint/apimachinery";
import type { StructuralSchema } from "./structural-schema.ts";

/** All rules of one schema, compiled. */
export interface RuleEvaluator {
  /** What is wrong with the rules themselves; a CRD with any is refused. */
  readonly errors: readonly FieldError[];
  /** Checks an object; `old` is absent on create, and transition rules are then skipped. */
  evaluate(value: unknown, old: unknown): readonly FieldError[];
}

/**
 * Compiles the rules of a whole object's schema. Costly: the result is kept as long as the schema. `path` is
 * where the schema stands, the beginning of the errors' fields.
 */
export type RuleCompiler = (schema: StructuralSchema, path?: string) => RuleEvaluator;
