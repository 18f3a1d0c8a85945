/** The text of the package's entry: every name of the modules in common use, once. */
import { generatedLine } from "./generated-line.ts";

/** What a module declares: kinds are values and types, types are types only. */
export interface ModuleNames {
  readonly module: string;
  readonly kinds: readonly string[];
  readonly types: readonly string[];
}

/**
 * In order of precedence: of two equal names, the earlier module's is plain and the later one's gets a
 * prefix.
 */
const commonModules: readonly string[] = [
  "core-v1",
  "apps-v1",
  "batch-v1",
  "autoscaling-v2",
  "rbac-v1",
  "coordination-v1",
  "policy-v1",
  "discovery-v1",
  "networking-v1",
  "storage-v1",
  "apiextensions-v1",
  "admissionregistration-v1",
  "authentication-v1",
  "authorization-v1",
  "autoscaling-v1",
  "events-v1",
  "meta-v1",
];

export function indexText(modules: readonly ModuleNames[]): string {
  const taken = new Set<string>();
  const lines: string[] = [];
  for (const name of commonModules) {
    const module = modules.find((candidate) => candidate.module === name);
    if (module === undefined) throw new Error(`Cannot export module "${name}": the definitions have none of its types`);
    const list = (names: readonly string[]): string =>
      names.map((own) => `  ${exportText(own, name, taken)},\n`).join("");
    const kinds = list(module.kinds);
    const types = list(module.types);
    if (kinds !== "") lines.push(`export {\n${kinds}} from "./${name}.ts";`);
    if (types !== "") lines.push(`export type {\n${types}} from "./${name}.ts";`);
  }
  return [generatedLine, ...lines, ""].join("\n");
}

/** `Event`, or `Event as EventsV1Event` when an earlier module has taken the name. */
function exportText(own: string, module: string, taken: Set<string>): string {
  const prefix = module
    .split("-")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
  const name = taken.has(own) ? `${prefix}${own}` : own;
  taken.add(name);
  return name === own ? own : `${own} as ${name}`;
}
