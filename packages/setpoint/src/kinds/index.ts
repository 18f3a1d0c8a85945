/**
 * The built-in kinds of Kubernetes, each a type and a constructor (`ConfigMap({ name: "a", data: {} })`), and
 * the field types that zod does not have.
 */
// The generator of `@setpoint/api` writes the list of kinds, so it is not repeated here.
export * from "@setpoint/api";

// fields of a kind's spec and status
export { exactlyOneOf, atMostOneOf, conditionColumn } from "@setpoint/schema";
export {
  cronLine,
  duration,
  embeddedObject,
  int64,
  intOrString,
  labelSelector,
  podMetadata,
  preserved,
  quantity,
  timestamp,
  timeZone,
} from "@setpoint/schema";
export { labelSelectorOf, matchesLabelSelector, parseFieldSelector, parseLabelSelector } from "@setpoint/apimachinery";
export { addQuantities, compareQuantities, formatQuantity, parseQuantity, quantityValue } from "@setpoint/apimachinery";

// what `defineKind` takes and returns
export type { DefinedKind, DeepReadonly, KindInit, KindObject, KindOptions, KindVersion } from "@setpoint/schema";
export { decode, isDecodeError } from "@setpoint/schema";
