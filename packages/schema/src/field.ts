/** What zod schemas cannot express about a field: rules, immutability, how lists and maps merge. */
import type { z } from "zod";
import type { ValidationRule } from "./structural-schema.ts";

/** What `field` adds to a schema: Kubernetes keywords that zod does not have. */
export interface FieldOptions {
  readonly description?: string;
  /** CEL rules; `self` is this field. */
  readonly rules?: readonly ValidationRule[];
  /** Short for `rules: [immutable()]`. */
  readonly immutable?: boolean;
  /**
   * `set`: scalars without duplicates; `map`: objects told apart by `listMapKeys`; `atomic`: replaced as a
   * whole.
   */
  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  /** A string format that the server checks, for instance `hostname`. */
  readonly format?: string;
}

/**
 * The same schema with Kubernetes keywords: `field(z.string(), { immutable: true })`. Its static type does
 * not change.
 */
export function field<S extends z.ZodType>(schema: S, options: FieldOptions): S {
  const rules = [...(options.rules ?? []), ...(options.immutable === true ? [immutable()] : [])];
  const { description, listType, listMapKeys, mapType, format } = options;
  const extra = {
    ...(description === undefined ? {} : { description }),
    ...(format === undefined ? {} : { format }),
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
    ...(listType === undefined ? {} : { "x-kubernetes-list-type": listType }),
    ...(listMapKeys === undefined ? {} : { "x-kubernetes-list-map-keys": listMapKeys }),
    ...(mapType === undefined ? {} : { "x-kubernetes-map-type": mapType }),
  };
  return schema.meta({ ...schema.meta(), ...extra });
}

/** The optional fields of a rule. */
export type RuleOptions = Omit<ValidationRule, "rule" | "message">;

/**
 * A CEL rule: `rule("self.min <= self.max", "min may not exceed max")`; with `oldSelf` it compares an update
 * with its past.
 */
export function rule(expression: string, message: string, options: RuleOptions = {}): ValidationRule {
  return { rule: expression, message, ...options };
}

/**
 * The rule that a value, once there, never changes. It compares two values, so an optional field may still be
 * set once or removed; a rule of the parent (`has(self.x) == has(oldSelf.x)`) forbids that.
 */
export function immutable(message = "the value is immutable"): ValidationRule {
  return { rule: "self == oldSelf", message };
}

/**
 * A union in the form that Kubernetes has for it: an object of optional fields of which exactly one is set.
 * `field(z.object({ s3: s3().optional(), local: local().optional() }), { rules: [exactlyOneOf("s3", "local")]
 * })`.
 */
export function exactlyOneOf(...fields: readonly [string, string, ...string[]]): ValidationRule {
  return { rule: `${countOf(fields)} == 1`, message: `exactly one of ${fields.join(", ")} must be set` };
}

/** Like `exactlyOneOf`, where none is allowed too. */
export function atMostOneOf(...fields: readonly [string, string, ...string[]]): ValidationRule {
  return { rule: `${countOf(fields)} <= 1`, message: `at most one of ${fields.join(", ")} may be set` };
}

function countOf(fields: readonly string[]): string {
  return `[${fields.map((name) => `has(self.${name})`).join(", ")}].filter(isSet, isSet).size()`;
}
