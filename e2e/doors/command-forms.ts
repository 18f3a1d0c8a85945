/** What a printed command is: a name in a sentence, a form with words to replace, or a command to type. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const root = new URL("../..", import.meta.url).pathname;
/** Words in a form that a reader replaces. */
const placeholder =
  /(^|[\s|[/=:'])(FILE|NAME|NS|DIR|IMAGE|KIND|PATH|POD|RECORDING|OBJECTS|SOURCE|SERVICE|COMMAND|HELM)\b|…/;
/** Subcommands of `setpoint` that have subcommands. */
const twoWords = new Set(["create operator", "generate types", "store check", "store repair", "image load"]);
const npmWords = new Set(["install", "run", "update"]);

/** Whether a text stands for many commands, as `setpoint run FILE` does. */
export function isForm(text: string): boolean {
  return placeholder.test(text);
}

/**
 * Whether a text names a program and its subcommand, as `kubectl get` in a sentence, and gives it nothing to
 * work on. Scripts of `package.json` are whole commands.
 */
export function isMention(text: string): boolean {
  const [program = "", subcommand = "", ...rest] = text.split(/\s+/);
  if (program === "npm") return rest.length === 0 && npmWords.has(subcommand);
  if (program === "node") return [subcommand, ...rest].every(isFlag);
  if (isFlag(subcommand)) return rest.length === 0;
  const hasTwo = program === "setpoint" && twoWords.has(`${subcommand} ${rest[0] ?? ""}`);
  return (hasTwo ? rest.slice(1) : rest).every(isFlag);
}

function isFlag(word: string): boolean {
  return /^--?[a-z]/.test(word);
}

/** What is wrong with the name or the flags of a command of ours; undefined when nothing is. */
export function nameProblem(text: string): string | undefined {
  const [, script] = /^npm (?:run (?:-s |--silent )?)?(\S+)/.exec(text) ?? [];
  if (script !== undefined && !npmWords.has(script)) {
    return scripts().has(script) ? undefined : `no package.json has the script "${script}"`;
  }
  const [own = ""] = text.split(/ (?:&&|\|) /);
  const [program = "", subcommand = "", ...words] = own.replace(/^npx /, "").split(/\s+/);
  if (program !== "setpoint" || subcommand === "help" || isFlag(subcommand)) return undefined;
  const usage = usages().get(subcommand);
  if (usage === undefined) return `there is no command "setpoint ${subcommand}"`;
  const unknown = words
    .flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? [])
    .find((flag) => !usage.includes(flag));
  return unknown === undefined ? undefined : `"setpoint ${subcommand}" has no flag ${unknown}`;
}

let knownScripts: ReadonlySet<string> | undefined;

/** Those of a checkout and of a new project. */
function scripts(): ReadonlySet<string> {
  const files = ["package.json", "packages/cli/templates/operator/package.json.txt"];
  knownScripts ??= new Set(
    files.flatMap((file) =>
      Object.keys((JSON.parse(readFileSync(`${root}${file}`, "utf8")) as { readonly scripts: object }).scripts),
    ),
  );
  return knownScripts;
}

let knownUsages: ReadonlyMap<string, string> | undefined;

function usages(): ReadonlyMap<string, string> {
  if (knownUsages !== undefined) return knownUsages;
  const bin = `${root}packages/cli/bin/setpoint.mjs`;
  const { stdout } = spawnSync(process.execPath, [bin, "help"], { encoding: "utf8" });
  const lines = [...stdout.matchAll(/^ {2}setpoint (\S+)(.*)$/gm)];
  knownUsages = new Map(lines.map(([, name = "", usage = ""]) => [name, usage]));
  return knownUsages;
}
