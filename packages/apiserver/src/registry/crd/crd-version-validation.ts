/**
 * Checks of a CRD version's fields other than its schema: subresources, printer columns, selectable fields.
 */
import type { FieldError } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { duplicate, invalidValue, required } from "../field-errors.ts";
import type { CrdColumn, CrdSubresources, CrdVersion } from "./crd-object.ts";

const columnTypes: readonly string[] = ["boolean", "date", "integer", "number", "string"];
const columnFormats: readonly string[] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const selectableFieldsMax = 8;
const warningLengthMax = 256;

export function validateDeprecation(version: CrdVersion, path: string): readonly FieldError[] {
  const warning = version.deprecationWarning;
  if (warning === undefined) return [];
  const field = `${path}.deprecationWarning`;
  if (version.deprecated !== true) return [invalidValue(field, warning, "can only be set for deprecated versions")];
  if (warning === "") return [invalidValue(field, warning, "must not be an empty string")];
  if (warning.length > warningLengthMax)
    return [invalidValue(field, warning, `must be <= ${warningLengthMax} characters long`)];
  const at = warning.search(/[\p{C}\p{Zl}\p{Zp}]/u);
  if (at === -1) return [];
  const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${at}`;
  return [invalidValue(field, warning, detail)];
}

export function validateSubresources(subresources: CrdSubresources | undefined, path: string): readonly FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const at = (field: string): string => `${path}.scale.${field}`;
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" } = scale;
  return [
    ...replicasPathErrors(at("specReplicasPath"), specReplicasPath, ".spec"),
    ...replicasPathErrors(at("statusReplicasPath"), statusReplicasPath, ".status"),
    ...selectorPathErrors(at("labelSelectorPath"), labelSelectorPath),
  ];
}

function replicasPathErrors(field: string, path: string, root: string): readonly FieldError[] {
  if (path === "") return [required(field)];
  if (!path.startsWith(".")) return [notSimple(field, path)];
  return path.startsWith(`${root}.`) ? [] : [invalidValue(field, path, `should be a json path under ${root}`)];
}

function selectorPathErrors(field: string, path: string): readonly FieldError[] {
  if (path === "") return [];
  if (!path.startsWith(".")) return [notSimple(field, path)];
  if (path.startsWith(".spec.") || path.startsWith(".status.")) return [];
  return [invalidValue(field, path, "should be a json path under either .spec or .status")];
}

const notSimple = (field: string, path: string): FieldError =>
  invalidValue(field, path, "must be a simple json path starting with .");

export function validateColumn(column: CrdColumn, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { name = "", type = "", format = "", jsonPath = "" } = column;
  const oneOf = (values: readonly string[]): string => `must be one of ${values.join(",")}`;
  if (name === "") errors.push(required(`${path}.name`));
  if (type === "") errors.push(required(`${path}.type`, oneOf(columnTypes)));
  else if (!columnTypes.includes(type)) errors.push(invalidValue(`${path}.type`, type, oneOf(columnTypes)));
  if (format !== "" && !columnFormats.includes(format))
    errors.push(invalidValue(`${path}.format`, format, oneOf(columnFormats)));
  if (jsonPath === "") errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath.startsWith(".")) errors.push(notSimple(`${path}.JSONPath`, jsonPath));
  return errors;
}

export function validateSelectableFields(
  fields: NonNullable<CrdVersion["selectableFields"]>,
  schema: StructuralSchema | undefined,
  path: string,
): readonly FieldError[] {
  const seen = new Set<string>();
  const errors = fields.flatMap(({ jsonPath = "" }, index) => {
    const field = `${path}[${index}].jsonPath`;
    if (jsonPath === "") return [required(field)];
    const problem = selectableProblem(jsonPath, schema);
    if (problem !== undefined) return [invalidValue(field, jsonPath, problem)];
    if (seen.has(jsonPath)) return [duplicate(field, jsonPath)];
    seen.add(jsonPath);
    return [];
  });
  if (seen.size <= selectableFieldsMax) return errors;
  const message = `Too many: ${seen.size}: must have at most ${selectableFieldsMax} items`;
  return [...errors, { type: "FieldValueTooMany", field: path, message }];
}

function selectableProblem(jsonPath: string, schema: StructuralSchema | undefined): string | undefined {
  if (!jsonPath.startsWith(".")) {
    const token = /^[^.[]+/.exec(jsonPath)?.[0] ?? jsonPath;
    return `is an invalid path: expected [ or . but got: ${token}`;
  }
  const found = schemaAt(schema, jsonPath);
  if (found === undefined) return "is an invalid path: does not refer to a valid field";
  if (jsonPath.startsWith(".metadata.")) return "must not point to fields in metadata";
  if (["string", "boolean", "integer"].includes(found.type ?? "")) return undefined;
  return "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
}

/**
 * The schema of a field in the notation of selectable fields and `fieldPath` (`.a.b`, `.a['x.y']`), if it is
 * declared.
 */
export function schemaAt(schema: StructuralSchema | undefined, path: string): StructuralSchema | undefined {
  const steps = path.match(/\.[^.[\]]+|\['[^']*'\]/g) ?? [];
  if (steps.join("") !== path) return undefined;
  let found = schema;
  for (const step of steps) {
    const name = step.startsWith(".") ? step.slice(1) : step.slice(2, -2);
    const mapped = typeof found?.additionalProperties === "object" ? found.additionalProperties : undefined;
    found = found?.properties?.[name] ?? mapped;
  }
  return found;
}
