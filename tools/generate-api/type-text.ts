/** TypeScript's text for a schema node. */
import { parseDefinitionName, refOf, type SchemaNode } from "./definitions.ts";

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";
const extensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/**
 * Definitions that OpenAPI cannot describe, or that are plain values on the wire. Servers answer quantities
 * as strings.
 */
const valueTexts: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "string",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "number | string",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "Readonly<Record<string, unknown>>",
  [`${meta}.Time`]: "string",
  [`${meta}.MicroTime`]: "string",
  [`${meta}.FieldsV1`]: "Readonly<Record<string, unknown>>",
  [`${meta}.Patch`]: "Readonly<Record<string, unknown>>",
  [`${extensions}.JSON`]: "unknown",
  [`${extensions}.JSONSchemaPropsOrArray`]: "JSONSchemaProps | readonly JSONSchemaProps[]",
  [`${extensions}.JSONSchemaPropsOrBool`]: "JSONSchemaProps | boolean",
  [`${extensions}.JSONSchemaPropsOrStringArray`]: "JSONSchemaProps | readonly string[]",
  [`${extensions}.CustomResourceSubresourceStatus`]: "Readonly<Record<string, never>>",
};

/** Definitions that apimachinery declares by hand. */
const apimachineryNames: ReadonlySet<string> = new Set([
  ...["Condition", "ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference"].map((name) => `${meta}.${name}`),
  ...["Status", "StatusCause", "StatusDetails"].map((name) => `${meta}.${name}`),
]);

/** Whether the definition gets no declaration of its own. */
export function isPredeclared(full: string): boolean {
  return full in valueTexts || apimachineryNames.has(full) || full.startsWith("io.k8s.apimachinery.pkg.version.");
}

/** Names that a module uses from elsewhere: module specifier → names. */
export class Imports {
  readonly #names = new Map<string, Set<string>>();
  readonly #module: string;

  constructor(module: string) {
    this.#module = module;
  }

  add(specifier: string, name: string): void {
    for (const [other, names] of this.#names) {
      if (other !== specifier && names.has(name)) {
        throw new Error(`Cannot import "${name}" twice into "${this.#module}": from "${other}" and "${specifier}"`);
      }
    }
    const names = this.#names.get(specifier) ?? new Set<string>();
    this.#names.set(specifier, names.add(name));
  }

  /** The text of a reference to a definition; notes the import it needs. */
  reference(full: string): string {
    const value = valueTexts[full];
    if (value !== undefined) return value;
    const { module, name } = parseDefinitionName(full);
    if (apimachineryNames.has(full)) this.add("@setpoint/apimachinery", name);
    else if (module !== this.#module) this.add(`./${module}.ts`, name);
    return name;
  }

  lines(): string[] {
    const line = ([specifier, names]: [string, Set<string>]): string => {
      const list = [...names].sort();
      const types = list.map((name) => (name === "createKind" ? name : `type ${name}`));
      return list.includes("createKind")
        ? `import { ${types.join(", ")} } from "${specifier}";`
        : `import type { ${list.join(", ")} } from "${specifier}";`;
    };
    return [...this.#names].sort(([a], [b]) => (a < b ? -1 : 1)).map(line);
  }
}

export function typeText(node: SchemaNode, imports: Imports): string {
  const ref = refOf(node);
  if (ref !== undefined) return imports.reference(ref);
  if (node.enum !== undefined) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (node.type === "array" && node.items !== undefined) return `readonly ${grouped(typeText(node.items, imports))}[]`;
  if (node.type === "object") {
    const value = node.additionalProperties === undefined ? "unknown" : typeText(node.additionalProperties, imports);
    return `Readonly<Record<string, ${value}>>`;
  }
  if (node.type === "integer" || node.type === "number") return "number";
  if (node.type === "string" || node.type === "boolean") return node.type;
  return "unknown";
}

/** An element type needs parentheses when it is a union or itself an array. */
function grouped(text: string): string {
  return text.includes(" | ") || text.startsWith("readonly ") ? `(${text})` : text;
}
