/** Declare a kind once; see the package's README. */

// kinds
export type {
  DefinedKind,
  KindInit,
  KindObject,
  KindOptions,
  KindPath,
  KindVersion,
  KindVersionSchema,
  OtherSpecs,
} from "./define-kind.ts";
export { defineKind } from "./define-kind.ts";
export type { FieldOptions, RuleOptions } from "./field.ts";
export { atMostOneOf, exactlyOneOf, field, immutable, rule } from "./field.ts";
export type { JsonPathColumn, PathColumn, PrinterColumn } from "./printer-column.ts";
export { age, conditionColumn } from "./printer-column.ts";
export type { DeepReadonly, FieldPath } from "./field-paths.ts";
export type {
  CrdOptions,
  CustomResourceColumn,
  CustomResourceDefinitionManifest,
  CustomResourceVersion,
  WebhookClient,
} from "./custom-resource-definition.ts";

// fields that zod does not have
export type { LabelSelector, LabelSelectorRequirement, PodMetadata } from "./zod-fields.ts";
export { cronLine, timeZone } from "./cron-line.ts";
export {
  conditions,
  duration,
  embeddedObject,
  int64,
  intOrString,
  labelSelector,
  podMetadata,
  preserved,
  quantity,
  timestamp,
} from "./zod-fields.ts";

// schemas
export type { StructuralSchema, ValidationRule } from "./structural-schema.ts";
export { structuralFromZod } from "./from-zod.ts";
export { validateStructural } from "./validate-structural.ts";

// values
export type { DecodeOptions, Decoded } from "./decode.ts";
export type { JsonType } from "./json-type.ts";
export { decode, DecodeError, isDecodeError } from "./decode.ts";
export { isIntegerOf } from "./integer-range.ts";
export { applyDefaults } from "./defaults.ts";
export type { ValidateOptions } from "./validate-schema.ts";
export { plainLimits } from "./plain-limits.ts";
export { validateSchema } from "./validate-schema.ts";
export type { RuleCompiler, RuleEvaluator } from "./rule-evaluator.ts";

// texts of messages
export { goJson, goQuote, goValue } from "./go-value.ts";

// patterns
export type { Pattern } from "./pattern.ts";
export { compilePattern, patternFault } from "./pattern.ts";
export { unknownFormats } from "./string-format.ts";
