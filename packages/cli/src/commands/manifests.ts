import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import type { Operator } from "setpoint";
import { installManifests, type InstallExtra, type PolicyRule } from "setpoint/install";
import { parseNamespace, usageError, type Command, type Output } from "../command.ts";
import { readRecording } from "../flight/recording-file.ts";
import { parseImage } from "../image/image-name.ts";
import { loadOperator } from "../load-operator.ts";
import { installationOf } from "../release/release-operators.ts";
import { helmChart } from "../manifests/helm-chart.ts";
import { kustomizeFiles } from "../manifests/kustomize-files.ts";
import { manifestsYaml } from "../manifests/manifests-yaml.ts";
import { recordedRights, rulesWithRecording } from "../manifests/recorded-rights.ts";
import { isSemanticVersion } from "../manifests/semantic-version.ts";
import { parseRunFlags, type RunFlags, runFlags, runFlagsUsage } from "../run-flags.ts";
import { writeTexts } from "../write-text.ts";

type Form = "yaml" | "kustomize" | "helm" | "images";

/** `setpoint manifests`: what installs an operator on any cluster. */
export const manifests: Command = {
  name: "manifests",
  usage: `manifests FILE [--image IMAGE] [--namespace NS] [--watch NS]... [--with networkpolicy,pdb,metrics,servicemonitor] [--from-recording RECORDING [--only-used]] [--chart-version VERSION] [--output yaml | --output images | --output kustomize DIR | --output helm DIR] ${runFlagsUsage}`,
  summary:
    "Print what installs the operator that FILE exports as default: CRDs, RBAC of its declared and recorded use, Deployment; or write it into DIR. --watch, which may be repeated, limits the operator to namespaces and gives it a Role in each. --output images lists the images that a mirror of the registry needs.",
  async run(args, output) {
    const { values, positionals } = parseFlags(args);
    const [file, directory = ""] = positionals;
    const form = outputForm(values.output ?? "yaml", directory, positionals.length);
    const extras = parseExtras(values.with);
    const operator = await loadOperator(file, "print the manifests of");
    const defaults = installationOf(file ?? "", operator);
    const image = parseImage(values.image) ?? defaults.image;
    if (form === "images") {
      output.out([image, ...operator.relatedImages.map((each) => each.image)].map((each) => `${each}\n`).join(""));
      return 0;
    }
    const rules = rulesOf(operator, values, output);
    const namespaces =
      values.watch === undefined
        ? {}
        : { namespaces: [...new Set(values.watch)].map((each) => parseNamespace("watch", each)) };
    const run = { ...parseRunFlags(values), ...namespaces };
    if (form === "helm") {
      const version = parseChartVersion(values["chart-version"] ?? "0.1.0");
      writeTexts(directory, helmChart(operator, { image, extras, version, run, ...rules }));
      return 0;
    }
    const namespace = parseNamespace("namespace", values.namespace ?? defaults.namespace);
    const { args: programs } = defaults;
    const objects = installManifests(operator, { image, namespace, args: programs, extras, run, ...rules });
    if (form === "kustomize") writeTexts(directory, kustomizeFiles(objects));
    else output.out(manifestsYaml(objects));
    return 0;
  },
};

interface Flags extends RunFlags {
  readonly watch?: readonly string[];
  readonly image?: string;
  readonly namespace?: string;
  readonly with?: string;
  readonly output?: string;
  readonly "from-recording"?: string;
  readonly "only-used"?: boolean;
  readonly "chart-version"?: string;
}

function parseFlags(args: readonly string[]): { readonly values: Flags; readonly positionals: readonly string[] } {
  const text = { type: "string" } as const;
  const options = {
    ...runFlags,
    ...{ image: text, namespace: text, with: text, output: text, watch: { ...text, multiple: true as const } },
    ...{ "from-recording": text, "only-used": { type: "boolean" as const }, "chart-version": text },
  };
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

function outputForm(form: string, directory: string, count: number): Form {
  if (!isForm(form)) {
    throw new SetpointError(usageError, `Cannot use --output ${form}: expected yaml, kustomize, helm or images`);
  }
  const isFolder = form === "kustomize" || form === "helm";
  if (count > (isFolder ? 2 : 1)) {
    throw new SetpointError(usageError, `Cannot print manifests: ${count} unexpected arguments`);
  }
  if (isFolder && directory === "") {
    throw new SetpointError(usageError, `Cannot use --output ${form}: the folder to write into is missing`);
  }
  return form;
}

const forms: readonly Form[] = ["yaml", "kustomize", "helm", "images"];

function isForm(text: string): text is Form {
  return forms.some((form) => form === text);
}

function parseChartVersion(text: string): string {
  if (isSemanticVersion(text)) return text;
  throw new SetpointError(usageError, `Cannot use --chart-version ${text}: expected a semantic version, as 1.2.3`);
}

/** Nothing: the rules that the operator declares. */
function rulesOf(operator: Operator, flags: Flags, output: Output): { readonly rules?: readonly PolicyRule[] } {
  const { "from-recording": path, "only-used": onlyUsed = false } = flags;
  if (path === undefined) {
    if (onlyUsed) throw new SetpointError(usageError, "Cannot use --only-used: it needs --from-recording");
    return {};
  }
  const { rules, unused } = rulesWithRecording(operator, recordedRights(readRecording(path).entries), onlyUsed);
  for (const right of unused)
    output.err(`${onlyUsed ? "Left out, because" : "Kept, though"} the recording did not need it: ${right}\n`);
  return { rules };
}

const extraNames: ReadonlyMap<string, InstallExtra> = new Map([
  ["networkpolicy", "NetworkPolicy"],
  ["pdb", "PodDisruptionBudget"],
  ["metrics", "MetricsService"],
  ["servicemonitor", "ServiceMonitor"],
]);

function parseExtras(text: string | undefined): readonly InstallExtra[] {
  if (text === undefined) return [];
  const extras = new Set(text.split(",").map(parseExtra));
  // A monitor of a Service that is not there finds nothing.
  if (extras.has("ServiceMonitor")) extras.add("MetricsService");
  return [...extraNames.values()].filter((each) => extras.has(each));
}

function parseExtra(name: string): InstallExtra {
  const extra = extraNames.get(name);
  if (extra !== undefined) return extra;
  throw new SetpointError(
    usageError,
    `Cannot use --with ${name}: expected some of ${[...extraNames.keys()].join(", ")}`,
  );
}
