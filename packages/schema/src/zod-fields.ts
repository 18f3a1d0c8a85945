/** Schemas of values that many kinds have and zod does not. */
import { type Condition, isJsonInteger } from "@setpoint/apimachinery";
import { z } from "zod";
import { field } from "./field.ts";

const quantityPattern =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

const durationPattern = /^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/;

/** An amount like `500m` or `8Gi`. Always a string, so that code which reads it has one type to handle. */
export function quantity(): z.ZodString {
  return z.string().regex(quantityPattern);
}

/** A span of time in Go's form: `90s`, `1h30m`. CEL rules see a duration. */
export function duration(): z.ZodString {
  return field(z.string().regex(durationPattern), { format: "duration" });
}

/** A moment in RFC 3339 form. CEL rules see a timestamp. */
export function timestamp(): z.ZodString {
  return field(z.string(), { format: "date-time" });
}

/** A port or an amount: `3`, `"25%"`, `"http"`. */
export function intOrString(): z.ZodUnion<readonly [z.ZodInt, z.ZodString]> {
  return z.union([z.int(), z.string()]);
}

/**
 * An integer of 64 bits: a `number`, or a `bigint` beyond 2^53. `z.int()` is always a number, and refuses
 * what a number may not hold exactly.
 */
export function int64(): z.ZodType<number | bigint, number | bigint> {
  const schema = z.custom<number | bigint>(isInt64, "expected an integer of 64 bits");
  return schema.meta({ type: "integer", format: "int64" });
}

function isInt64(value: unknown): boolean {
  return isJsonInteger(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value);
}

/** A selector of a spec (meta/v1 LabelSelector): all labels and expressions must match. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** One expression of a label selector; `values` is empty for Exists and DoesNotExist. */
export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** A selector of objects by their labels, as Deployments have it. */
export function labelSelector(): z.ZodType<LabelSelector, LabelSelector> {
  const requirement = z.object({
    key: z.string().describe("The label's name."),
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("How the label is compared."),
    values: z.array(z.string()).exactOptional().describe("The values for In and NotIn."),
  });
  const selector = z.object({
    matchLabels: z.record(z.string(), z.string()).exactOptional().describe("Labels that must have these values."),
    matchExpressions: z.array(requirement).exactOptional().describe("Conditions on labels; all must hold."),
  });
  return field(selector, { mapType: "atomic" });
}

/** Labels and annotations that users may set on the pods of an operator. */
export interface PodMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The metadata that users may set on objects that the operator creates. */
export function podMetadata(): z.ZodType<PodMetadata, PodMetadata> {
  const strings = z.record(z.string(), z.string());
  return z.object({ labels: strings.exactOptional(), annotations: strings.exactOptional() });
}

/** The conditions of a status, one a type. */
export function conditions(): z.ZodType<readonly Condition[], readonly Condition[]> {
  const condition = z.object({
    type: z.string(),
    status: z.enum(["True", "False", "Unknown"]),
    observedGeneration: z.int().exactOptional(),
    lastTransitionTime: timestamp(),
    reason: z.string(),
    message: z.string(),
  });
  return field(z.array(condition), { listType: "map", listMapKeys: ["type"] });
}

/**
 * An object of any content, which the server neither checks nor prunes: `preserved<PodTemplateSpec>()`. `T`
 * is the author's promise about it.
 */
export function preserved<T extends object = Readonly<Record<string, unknown>>>(): z.ZodType<T, T> {
  // Nothing but the author's word makes it a T; that is what this function is for.
  return z.looseObject({}) as unknown as z.ZodType<T, T>;
}

/** A whole object of the API inside another one; its metadata is checked like that of any object. */
export function embeddedObject<T extends object = Readonly<Record<string, unknown>>>(): z.ZodType<T, T> {
  return preserved<T>().meta({ "x-kubernetes-embedded-resource": true });
}
