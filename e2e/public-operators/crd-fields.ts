/** The fields of a kind's spec, as its CustomResourceDefinition lists them. */
import { parse } from "yaml";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
  readonly "x-kubernetes-int-or-string"?: boolean;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: Schema } } };
    }[];
  };
}

/** One line a field: path, type and allowed values. A list has `[]` in its path, a map ends in `{}`. */
export function fieldsOf(definition: string): readonly string[] {
  const { spec } = parse(definition) as Definition;
  const [version] = spec.versions;
  return version === undefined ? [] : leaves(version.schema.openAPIV3Schema.properties.spec, "");
}

function leaves(schema: Schema, path: string): readonly string[] {
  const { properties, items, additionalProperties: values } = schema;
  if (schema["x-kubernetes-int-or-string"] === true) return [`${path} quantity`];
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, part]) => leaves(part, path === "" ? name : `${path}.${name}`));
  if (schema.type === "array") return leaves(items ?? {}, `${path}[]`);
  if (typeof values === "object") return leaves(values, `${path}{}`);
  return [`${path} ${schema.type ?? "any"}${schema.enum === undefined ? "" : ` ${schema.enum.join(",")}`}`];
}
