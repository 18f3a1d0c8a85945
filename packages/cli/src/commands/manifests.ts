import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { installManifests, type InstallExtra } from "setpoint";
import { usageError, type Command } from "../command.ts";
import { loadOperator } from "../load-operator.ts";
import { kustomizeFiles } from "../manifests/kustomize-files.ts";
import { manifestsYaml } from "../manifests/manifests-yaml.ts";

/** `setpoint manifests`: what installs an operator on any cluster. */
export const manifests: Command = {
  name: "manifests",
  usage:
    "manifests FILE [--image IMAGE] [--namespace NS] [--with networkpolicy,pdb] [--output yaml | --output kustomize DIR]",
  summary:
    "Print what installs the operator that FILE exports as default: CRDs, RBAC of its declared use, Deployment; or write it into DIR.",
  async run(args, output) {
    const { values, positionals } = parseFlags(args);
    const [file, directory] = positionals;
    const isKustomize = outputForm(values.output, directory, positionals.length) === "kustomize";
    const extras = parseExtras(values.with);
    const operator = await loadOperator(file, "print the manifests of");
    const image = values.image ?? `${operator.name}-operator:latest`;
    const namespace = values.namespace ?? `${operator.name}-system`;
    const objects = installManifests(operator, { image, namespace, extras });
    if (isKustomize) writeFiles(directory ?? ".", kustomizeFiles(objects));
    else output.out(manifestsYaml(objects));
    return 0;
  },
};

function parseFlags(args: readonly string[]): {
  readonly values: { image?: string; namespace?: string; with?: string; output?: string };
  readonly positionals: readonly string[];
} {
  const text = { type: "string" } as const;
  const options = { image: text, namespace: text, with: text, output: text };
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

function outputForm(form: string | undefined, directory: string | undefined, count: number): "yaml" | "kustomize" {
  if (form !== undefined && form !== "yaml" && form !== "kustomize") {
    throw new SetpointError(usageError, `Cannot use --output ${form}: wanted yaml or kustomize`);
  }
  const countMax = form === "kustomize" ? 2 : 1;
  if (count > countMax) throw new SetpointError(usageError, `Cannot print manifests: ${count} arguments are too many`);
  if (form === "kustomize" && directory === undefined) {
    throw new SetpointError(usageError, "Cannot use --output kustomize: the folder to write into is missing");
  }
  return form ?? "yaml";
}

const extraNames: ReadonlyMap<string, InstallExtra> = new Map([
  ["networkpolicy", "NetworkPolicy"],
  ["pdb", "PodDisruptionBudget"],
]);

function parseExtras(text: string | undefined): readonly InstallExtra[] {
  if (text === undefined) return [];
  const extras = new Set(text.split(",").map(parseExtra));
  return [...extraNames.values()].filter((each) => extras.has(each));
}

function parseExtra(name: string): InstallExtra {
  const extra = extraNames.get(name);
  if (extra !== undefined) return extra;
  throw new SetpointError(usageError, `Cannot use --with ${name}: wanted ${[...extraNames.keys()].join(" or ")}`);
}

function writeFiles(directory: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
}
