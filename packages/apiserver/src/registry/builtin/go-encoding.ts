/**
 * kube-apiserver decodes built-in objects into Go structs, and clients see the effects: absent structs return
 * as `{}`, nulls and empty lists vanish, required lists return as null. This module has the same effects,
 * from the data in `go-fields.json`. A scalar that is absent although Go would write its zero is filled in
 * below `status` and where the schema does not require it; elsewhere it stays absent, so that validation can
 * say "Required value".
 */
import type { QuantityPrecision } from "@setpoint/apimachinery";
import { type GoFields, goFields, openApiSchemas } from "./api-data.ts";
import { canonicalQuantity } from "./canonical-quantity.ts";
import type { OpenApiSchema } from "./openapi-schema.ts";
import { referenceOf } from "./resolve-schema.ts";

type JsonObject = Record<string, unknown>;
type Shape =
  | "string"
  | "number"
  | "boolean"
  | "struct"
  | "list"
  | "map"
  | "time"
  | "quantity"
  | "intOrString"
  | "opaque";

interface FieldPlan {
  readonly name: string;
  readonly shape: Shape;
  readonly pointer: boolean;
  readonly keepsZero: boolean;
  readonly omitsZeroStruct: boolean;
  readonly required: boolean;
  /** How finely quantities are stored. */
  readonly precision: QuantityPrecision;
  /** The struct, or that of the elements of a list or map. */
  readonly struct: string | undefined;
  readonly elementShape: Shape | undefined;
  /** How each element of a list or map is encoded; absent where elements stay as they are. */
  readonly element: FieldPlan | undefined;
}

interface StructPlan {
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** Those that do not stay absent, outside of a status and within one. */
  readonly filled: readonly FieldPlan[];
  readonly filledInStatus: readonly FieldPlan[];
  /** Rewrites all quantities; checks other scalars only for zero. */
  readonly hasQuantities: boolean;
}

const plans = new Map<string, StructPlan>();

const leafShapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Time", "time"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "time"],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", "quantity"],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", "intOrString"],
]);

/** The name of a message in the protobuf tables for a component of OpenAPI. */
export function messageName(component: string): string {
  return component
    .replace(/^io\.k8s\./, "k8s.io.")
    .replace("apiextensions-apiserver", "apiextensions_apiserver")
    .replace("kube-aggregator", "kube_aggregator");
}

function shapeOf(schema: OpenApiSchema): Shape {
  const reference = referenceOf(schema);
  if (reference !== undefined) {
    const leaf = leafShapes.get(reference);
    if (leaf !== undefined) return leaf;
    return openApiSchemas()[reference]?.properties === undefined || reference.endsWith(".JSONSchemaProps")
      ? "opaque"
      : "struct";
  }
  if (schema.items !== undefined) return "list";
  if (typeof schema.additionalProperties === "object") return "map";
  if (schema.type === "string" || schema.type === "boolean") return schema.type;
  if (schema.type === "integer" || schema.type === "number") return "number";
  return "opaque";
}

function planOf(component: string): StructPlan {
  let plan = plans.get(component);
  if (plan === undefined) {
    const fields = fieldPlans(component, goFields()[messageName(component)] ?? {});
    const filledIn = (inStatus: boolean): readonly FieldPlan[] =>
      fields.filter((field) => zeroOf(field, inStatus || isStatus(field)) !== undefined);
    const byName = new Map(fields.map((field) => [field.name, field]));
    const hasQuantities = fields.some(({ shape }) => shape === "quantity");
    plan = { fields: byName, filled: filledIn(false), filledInStatus: filledIn(true), hasQuantities };
    plans.set(component, plan);
  }
  return plan;
}

function fieldPlans(component: string, go: GoFields): readonly FieldPlan[] {
  const schema = openApiSchemas()[component];
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const element =
      property.items ?? (typeof property.additionalProperties === "object" ? property.additionalProperties : undefined);
    const elementShape = element === undefined ? undefined : shapeOf(element);
    const plan: Omit<FieldPlan, "element"> = {
      name,
      shape: shapeOf(property),
      pointer: go.p?.includes(name) ?? false,
      keepsZero: go.k?.includes(name) ?? false,
      omitsZeroStruct: go.z?.includes(name) ?? false,
      required: schema?.required?.includes(name) ?? false,
      precision: isResourceList(component, elementShape) ? "milli" : "nano",
      struct: referenceOf(element ?? property),
      elementShape,
    };
    return { ...plan, element: isEncoded(elementShape) ? elementOf(plan) : undefined };
  });
}

/** The lists of resources of the core group, which its defaults round; other groups have their own types. */
function isResourceList(component: string, elementShape: Shape | undefined): boolean {
  return elementShape === "quantity" && component.startsWith("io.k8s.api.core.") && !component.endsWith(unrounded);
}

/** The one struct of the core group that has no such default. */
const unrounded = ".NodeAllocatableResourceClaimStatus";

/** Elements of other shapes stay as they are. */
function isEncoded(shape: Shape | undefined): boolean {
  return shape === "struct" || shape === "quantity";
}

/** The plan of an element: that of its list or map without elements of its own. */
function elementOf(plan: Omit<FieldPlan, "element">): FieldPlan {
  return { ...plan, shape: "list", elementShape: undefined, element: undefined };
}

/** Rewrites an object of this component in place as a round trip through its Go struct would. */
export function encodeAsGo(component: string, object: JsonObject, inStatus = false): void {
  const { fields, filled, filledInStatus, hasQuantities } = planOf(component);
  // Structs have many more fields than objects set, so the object is walked, and not its type.
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (Boolean(value) && typeof value !== "object" && !hasQuantities) continue;
    const field = fields.get(name);
    if (field !== undefined) encodeField(field, object, value, inStatus || isStatus(field));
  }
  for (const field of inStatus ? filledInStatus : filled) {
    if (object[field.name] === undefined) object[field.name] = zeroOf(field, inStatus || isStatus(field));
  }
}

function isStatus({ name }: FieldPlan): boolean {
  return name === "status";
}

function encodeField(field: FieldPlan, object: JsonObject, value: unknown, inStatus: boolean): void {
  if (value === undefined || value === null) return fillAbsent(field, object, inStatus);
  if (isZero(field, value)) {
    delete object[field.name];
    return;
  }
  if (typeof value === "string" && field.shape !== "quantity") return;
  const encoded = encodeValue(field.shape, field, value, inStatus);
  if (encoded !== value) object[field.name] = encoded;
}

function isZero(field: FieldPlan, value: unknown): boolean {
  if (field.keepsZero || field.pointer) return false;
  if (field.shape === "list") return Array.isArray(value) && value.length === 0;
  if (field.shape === "map") return typeof value === "object" && value !== null && Object.keys(value).length === 0;
  if (field.shape === "struct" && field.omitsZeroStruct) return isObject(value) && Object.keys(value).length === 0;
  return (
    (field.shape === "string" || field.shape === "number" || field.shape === "boolean") &&
    (value === "" || value === 0 || value === false)
  );
}

function fillAbsent(field: FieldPlan, object: JsonObject, inStatus: boolean): void {
  const zero = zeroOf(field, inStatus);
  if (zero !== undefined) object[field.name] = zero;
  else if (field.name in object) delete object[field.name];
}

function zeroOf(field: FieldPlan, inStatus: boolean): unknown {
  if (field.pointer || field.omitsZeroStruct) return undefined;
  if (field.shape === "struct" && field.struct !== undefined) return zeroStruct(field.struct, inStatus);
  if (field.shape === "time") return null;
  if (field.shape === "quantity") return "0";
  if (field.shape === "intOrString") return field.keepsZero || !field.required ? 0 : undefined;
  if (!field.keepsZero) return undefined;
  if (field.shape === "list" || field.shape === "map") return null;
  if (field.required && !inStatus) return undefined;
  if (field.shape === "string") return "";
  return field.shape === "number" ? 0 : field.shape === "boolean" ? false : undefined;
}

function zeroStruct(component: string, inStatus: boolean): JsonObject {
  const zero: JsonObject = {};
  encodeAsGo(component, zero, inStatus);
  return zero;
}

function encodeValue(shape: Shape, field: FieldPlan, value: unknown, inStatus: boolean): unknown {
  if (shape === "quantity" && value === null) return "0";
  if (shape === "quantity")
    return typeof value === "string" || isJsonNumber(value) ? canonicalQuantity(value, field.precision) : value;
  if (shape === "struct" && field.struct !== undefined && isObject(value)) encodeAsGo(field.struct, value, inStatus);
  if (field.elementShape === undefined || shape !== field.shape) return value;
  if (shape === "list" && Array.isArray(value)) encodeElements(field, field.elementShape, value, inStatus);
  if (shape === "map" && isObject(value)) encodeElements(field, field.elementShape, value, inStatus);
  return value;
}

function isJsonNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function encodeElements(field: FieldPlan, shape: Shape, elements: JsonObject | unknown[], inStatus: boolean): void {
  const { element } = field;
  if (element === undefined) return;
  if (Array.isArray(elements)) {
    for (let index = 0; index < elements.length; index++) {
      const value: unknown = elements[index];
      const encoded = encodeValue(shape, element, value, inStatus);
      if (encoded !== value) elements[index] = encoded;
    }
    return;
  }
  for (const key of Object.keys(elements)) {
    const encoded = encodeValue(shape, element, elements[key], inStatus);
    if (encoded !== elements[key]) elements[key] = encoded;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
