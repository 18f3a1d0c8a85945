/**
 * Makes the modules of `packages/api/src` from definitions and discovery: file name → text. Pure, so a test
 * can repeat it.
 */
import {
  parseDefinitionName,
  refOf,
  type DefinitionName,
  type Definitions,
  type DiscoveredGroup,
  type SchemaNode,
} from "./definitions.ts";
import { generatedLine } from "./generated-line.ts";
import { indexText, type ModuleNames } from "./index-text.ts";
import { Imports, isPredeclared, typeText } from "./type-text.ts";

/**
 * Kinds that people create without a spec; of the others, a spec that is not a pointer in Go is always on the
 * wire.
 */
const specOptionalKinds: ReadonlySet<string> = new Set(["Namespace", "Node"]);

interface ResourceNames {
  readonly plural: string;
  readonly namespaced: boolean;
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function generate(definitions: Definitions, groups: readonly DiscoveredGroup[]): Map<string, string> {
  const resources = resourcesByKind(groups);
  const files = new Map<string, string>();
  const modules: ModuleNames[] = [];
  const names = Object.keys(definitions).map(parseDefinitionName);
  const declared = names.filter(({ full }) => !isPredeclared(full));
  for (const module of [...new Set(declared.map((name) => name.module))].sort()) {
    const own = declared.filter((name) => name.module === module).sort((a, b) => (a.name < b.name ? -1 : 1));
    const { text, kinds, types } = moduleText(module, own, definitions, resources);
    files.set(`${module}.ts`, text);
    modules.push({ module, kinds, types });
  }
  files.set("index.ts", indexText(modules));
  return files;
}

function resourcesByKind(groups: readonly DiscoveredGroup[]): Map<string, ResourceNames> {
  const resources = new Map<string, ResourceNames>();
  for (const { group, versions } of groups) {
    for (const { version, resources: list } of versions) {
      for (const { resource, kind, scope } of list) {
        resources.set(kindKey({ group, version, kind }), { plural: resource, namespaced: scope === "Namespaced" });
      }
    }
  }
  return resources;
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}

function moduleText(
  module: string,
  names: readonly DefinitionName[],
  definitions: Definitions,
  resources: ReadonlyMap<string, ResourceNames>,
): { text: string; kinds: string[]; types: string[] } {
  const imports = new Imports(module);
  const declarations: string[] = [];
  const kinds: string[] = [];
  const types: string[] = [];
  for (const { full, name } of names) {
    const node = definitions[full] ?? {};
    const gvk = ownKind(name, node);
    const resource = gvk === undefined ? undefined : resources.get(kindKey(gvk));
    declarations.push(declarationText(name, node, gvk, imports));
    if (gvk !== undefined && resource !== undefined) declarations.push(kindText(gvk, resource, imports));
    (resource === undefined ? types : kinds).push(name);
  }
  const text = [generatedLine, ...imports.lines(), "", declarations.join("\n\n"), ""].join("\n");
  return { text, kinds, types };
}

/** The kind that a definition declares; types shared by all groups (DeleteOptions) declare none. */
function ownKind(name: string, node: SchemaNode): GroupVersionKind | undefined {
  const kinds = node["x-kubernetes-group-version-kind"] ?? [];
  return kinds.length === 1 && kinds[0]?.kind === name ? kinds[0] : undefined;
}

function declarationText(name: string, node: SchemaNode, gvk: GroupVersionKind | undefined, imports: Imports): string {
  const properties = Object.entries(node.properties ?? {});
  const items = node.properties?.["items"]?.items;
  const metadata = node.properties?.["metadata"];
  const metadataRef = metadata === undefined ? undefined : refOf(metadata);
  if (metadataRef?.endsWith(".ListMeta") === true && items !== undefined) {
    imports.add("@setpoint/apimachinery", "KubeList");
    return `export type ${name} = KubeList<${typeText(items, imports)}>;`;
  }
  const isObject = gvk !== undefined && metadataRef?.endsWith(".ObjectMeta") === true;
  if (isObject) imports.add("@setpoint/apimachinery", "KubeObject");
  const inherited = isObject ? ["apiVersion", "kind", "metadata"] : [];
  const lines = properties
    .filter(([field]) => !inherited.includes(field))
    .map(([field, property]) => {
      const required = isRequired(name, node, field, property, isObject);
      return `  readonly ${fieldText(field)}${required ? "" : "?"}: ${typeText(property, imports)};`;
    });
  const head = `export interface ${name}${isObject ? " extends KubeObject" : ""}`;
  return lines.length === 0 ? `${head} {}` : `${head} {\n${lines.join("\n")}\n}`;
}

function isRequired(name: string, node: SchemaNode, field: string, property: SchemaNode, isObject: boolean): boolean {
  if (node.required?.includes(field) === true) return true;
  return isObject && field === "spec" && property.default !== undefined && !specOptionalKinds.has(name);
}

function kindText(gvk: GroupVersionKind, resource: ResourceNames, imports: Imports): string {
  imports.add("@setpoint/apimachinery", "Kind");
  imports.add("@setpoint/apimachinery", "createKind");
  const { group, version, kind } = gvk;
  const fields = [
    `group: ${JSON.stringify(group)}`,
    `version: ${JSON.stringify(version)}`,
    `kind: ${JSON.stringify(kind)}`,
    `plural: ${JSON.stringify(resource.plural)}`,
    `namespaced: ${resource.namespaced}`,
  ];
  const doc = `/** ${group === "" ? version : `${group}/${version}`} ${kind}: ${resource.namespaced ? "namespaced" : "cluster-scoped"}, \`${resource.plural}\`. */`;
  return `${doc}\nexport const ${kind}: Kind<${kind}> = createKind<${kind}>({\n${fields.map((field) => `  ${field},`).join("\n")}\n});`;
}

function fieldText(field: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field);
}
