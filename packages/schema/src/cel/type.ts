/** The types of the checker. */

export type ScalarKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "timestamp"
  | "duration"
  | "dyn"
  | "error";

export type CelType =
  | { readonly kind: ScalarKind }
  | { readonly kind: "list"; readonly element: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | { readonly kind: "object"; readonly name: string; readonly fields: ReadonlyMap<string, CelType> }
  | { readonly kind: "opaque"; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: "type"; readonly of: CelType | undefined }
  | { readonly kind: "parameter"; readonly name: string };

export const boolType: CelType = { kind: "bool" };
export const intType: CelType = { kind: "int" };
export const stringType: CelType = { kind: "string" };
export const dynType: CelType = { kind: "dyn" };
export const errorType: CelType = { kind: "error" };

export function listType(element: CelType): CelType {
  return { kind: "list", element };
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: "map", key, value };
}

export function optionalType(value: CelType): CelType {
  return { kind: "opaque", name: "optional_type", parameters: [value] };
}

/** The type inside an optional, if it is one. */
export function unwrapOptional(type: CelType): CelType | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.parameters[0] : undefined;
}

export function isLoose(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

/** As cel-go prints it in errors. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case "error":
      return "!error!";
    case "list":
      return `list(${typeText(type.element)})`;
    case "map":
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case "object":
    case "parameter":
      return type.name;
    case "opaque":
      if (type.parameters.length === 0) return type.name;
      return `${type.name}(${type.parameters.map(typeText).join(", ")})`;
    case "type":
      return type.of === undefined ? "type" : `type(${typeText(type.of)})`;
    default:
      return type.kind;
  }
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  switch (a.kind) {
    case "list":
      return b.kind === "list" && sameType(a.element, b.element);
    case "map":
      return b.kind === "map" && sameType(a.key, b.key) && sameType(a.value, b.value);
    case "object":
    case "parameter":
      return b.kind === a.kind && a.name === b.name;
    case "opaque":
      return b.kind === "opaque" && a.name === b.name && sameTypes(a.parameters, b.parameters);
    case "type":
      return (
        b.kind === "type" && (a.of === undefined ? b.of === undefined : b.of !== undefined && sameType(a.of, b.of))
      );
    default:
      return a.kind === b.kind;
  }
}

function sameTypes(a: readonly CelType[], b: readonly CelType[]): boolean {
  return (
    a.length === b.length &&
    a.every((type, index) => {
      const other = b[index];
      return other !== undefined && sameType(type, other);
    })
  );
}
