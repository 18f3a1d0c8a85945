import { globSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import { capabilityScore, type CapabilityScore } from "../bundle/capability-level.ts";
import { checkBundle } from "../bundle/check-bundle.ts";
import { olmBundle } from "../bundle/olm-bundle.ts";
import { refuseMore, usageError, type Command, type Output } from "../command.ts";
import { loadOperator } from "../load-operator.ts";
import { writeTexts } from "../write-text.ts";

/** An object of a cluster has at most 1.5 MiB. */
const fileBytesMax = 4 * 1024 * 1024;

/** `setpoint bundle`: an operator as the Operator Lifecycle Manager takes it. */
export const bundle: Command = {
  name: "bundle",
  usage:
    "bundle FILE DIR --version X.Y.Z [--image IMAGE] [--channel NAME] [--replaces X.Y.Z] [--capabilities PAGE] | bundle --check DIR",
  summary:
    "Write a bundle for the Operator Lifecycle Manager into DIR: ClusterServiceVersion, CRDs, scorecard; or check one that is there. PAGE answers the questions of the capability levels, and gives the level; without it, the lowest.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { version: text, image: text, channel: text, replaces: text, capabilities: text, check: text },
      allowPositionals: true,
    });
    refuseMore("make a bundle", positionals, values.check === undefined ? 2 : 0);
    if (values.check !== undefined) return check(values.check, output);
    const [file, directory] = positionals;
    if (directory === undefined || values.version === undefined)
      throw new SetpointError(usageError, "Cannot write a bundle: expected FILE, DIR and --version");
    const operator = await loadOperator(file, "bundle");
    const score = values.capabilities === undefined ? undefined : capabilityScore(readPage(values.capabilities));
    const files = olmBundle(operator, {
      image: values.image ?? `${operator.name}-operator:${values.version}`,
      version: values.version,
      channel: values.channel ?? "stable",
      ...(values.replaces === undefined ? {} : { replaces: values.replaces }),
      ...(score === undefined ? {} : { capabilities: score.level }),
    });
    const found = checkBundle(files);
    if (found.length > 0) return refuse(found, output);
    for (const path of writeTexts(directory, files)) output.out(`${path}\n`);
    if (score !== undefined) output.err(levelText(score));
    return 0;
  },
};

function levelText({ level, next }: CapabilityScore): string {
  return `Capability level: ${level}${next === undefined ? "" : `, because ${next}`}\n`;
}

function readPage(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const message = `Cannot read the capability level from "${path}": ${messageOf(cause)}`;
    throw new SetpointError("ERR_NO_CAPABILITIES", message, { cause });
  }
}

function check(directory: string, output: Output): number {
  const paths = globSync("{manifests,metadata}/*.yaml", { cwd: directory });
  if (paths.length === 0)
    throw new SetpointError(
      "ERR_NO_BUNDLE",
      `Cannot check "${directory}": there is neither manifests/ nor metadata/ in it`,
    );
  const found = checkBundle(new Map(paths.map((path) => [path, readFile(directory, path)])));
  if (found.length > 0) return refuse(found, output);
  output.out(`The bundle in ${directory} is fit: ${paths.length} files\n`);
  return 0;
}

/** A bundle may come from anybody: its files are read, not what a link, a device or a pipe leads to. */
function readFile(directory: string, path: string): string {
  const parts = path.split("/").map((_, i, all) => join(directory, ...all.slice(0, i + 1)));
  const isLink = parts.some((part) => lstatSync(part).isSymbolicLink());
  const stat = lstatSync(join(directory, path));
  if (!isLink && stat.isFile() && stat.size <= fileBytesMax) return readFileSync(join(directory, path), "utf8");
  const message = `Cannot check "${directory}": ${path} is no file of at most ${fileBytesMax} bytes, or a link`;
  throw new SetpointError("ERR_NO_BUNDLE", message);
}

function refuse(found: readonly string[], output: Output): number {
  for (const sentence of found) output.err(`${sentence}\n`);
  return 1;
}
