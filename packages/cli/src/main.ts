/** The `setpoint` command: finds the subcommand, runs it, and turns errors into one sentence. */
import { isSetpointError } from "@setpoint/apimachinery";
import { closestWord } from "./closest-word.ts";
import { usageError, type Command, type Output } from "./command.ts";
import { accept } from "./commands/accept.ts";
import { build } from "./commands/build.ts";
import { bundle } from "./commands/bundle.ts";
import { chaos } from "./commands/chaos.ts";
import { compliance } from "./commands/compliance.ts";
import { connect } from "./commands/connect.ts";
import { create } from "./commands/create.ts";
import { dashboard } from "./commands/dashboard.ts";
import { dev } from "./commands/dev.ts";
import { fault } from "./commands/fault.ts";
import { generate } from "./commands/generate.ts";
import { image } from "./commands/image.ts";
import { install } from "./commands/install.ts";
import { manifests } from "./commands/manifests.ts";
import { node } from "./commands/node.ts";
import { plan } from "./commands/plan.ts";
import { postgres } from "./commands/postgres.ts";
import { prometheus } from "./commands/prometheus.ts";
import { record } from "./commands/record.ts";
import { replay } from "./commands/replay.ts";
import { run } from "./commands/run.ts";
import { store } from "./commands/store.ts";
import { uninstall } from "./commands/uninstall.ts";
import { up } from "./commands/up.ts";
import { upgrade } from "./commands/upgrade.ts";
import { version } from "./commands/version.ts";
import { why } from "./commands/why.ts";
import { sentenceOf } from "./sentence-of.ts";

export { endWithParent } from "./end-with-parent.ts";

const commands: readonly Command[] = [
  up,
  store,
  image,
  fault,
  run,
  dev,
  plan,
  why,
  connect,
  accept,
  record,
  replay,
  manifests,
  build,
  install,
  uninstall,
  bundle,
  postgres,
  prometheus,
  chaos,
  compliance,
  dashboard,
  create,
  upgrade,
  generate,
  version,
  node,
];

const processOutput: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  hasColors: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
};

/** Resolves to the exit code: 0 done, 1 not done, 2 called in a wrong way. */
export async function main(args: readonly string[], output: Output = processOutput): Promise<number> {
  const [name, ...rest] = args;
  // A reader that is gone, or a full disk behind it, is no reason to end: without a listener Node ends the
  // process.
  for (const stream of [process.stdout, process.stderr])
    if (stream.listenerCount("error") === 0) stream.on("error", () => {});
  if (name === undefined) {
    output.out(usage());
    return 2;
  }
  if (name === "help" || name === "--help") return help(rest[0], output);
  const command = commands.find((each) => each.name === (name === "--version" ? "version" : name));
  if (command === undefined) return noSuchCommand(name, output);
  if (rest.includes("--help")) return help(command.name, output);
  try {
    return await command.run(rest, output);
  } catch (error) {
    const called = isSetpointError(error, usageError);
    if (!called && !isFlagError(error)) {
      output.err(`${sentenceOf(error)}\n`);
      return 1;
    }
    const sentence = called ? sentenceOf(error) : `Cannot run "setpoint ${name}": ${error.message}`;
    output.err(`${withSuggestion(withoutHint(sentence), command)}\n${usageOf(command)}`);
    return 2;
  }
}

function help(name: string | undefined, output: Output): number {
  // A reader that is gone, or a full disk behind it, is no reason to end: without a listener Node ends the
  // process.
  for (const stream of [process.stdout, process.stderr])
    if (stream.listenerCount("error") === 0) stream.on("error", () => {});
  if (name === undefined) {
    output.out(usage());
    return 0;
  }
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return noSuchCommand(name, output);
  output.out(`${usageOf(command)}\n${command.summary}\n`);
  return 0;
}

function noSuchCommand(name: string, output: Output): number {
  const meant = closestWord(
    name,
    commands.filter(({ internal }) => internal !== true).map((each) => each.name),
  );
  const cannot = `Cannot run "setpoint ${name}": no such command`;
  if (meant === undefined) output.err(`${cannot}.\n${usage()}`);
  else output.err(`${cannot}; did you mean "setpoint ${meant}"? "setpoint help" lists all commands.\n`);
  return 2;
}

/** What `parseArgs` of Node throws. */
function isFlagError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^ERR_PARSE_ARGS_[A-Z]/.test(String(error.code));
}

/** Node's hint on arguments that begin with a dash hides the sentence that it follows. */
function withoutHint(sentence: string): string {
  return sentence.replace(/\. To specify .*/s, "");
}

/** Of a flag that does not exist: the one that is meant. */
function withSuggestion(sentence: string, { usage: known }: Command): string {
  const [, flag] = /Unknown option '--([a-z-]+)'/.exec(sentence) ?? [];
  if (flag === undefined) return sentence;
  const flags = [...known.matchAll(/--([a-z-]+)/g)].map(([, name = ""]) => name);
  const meant = closestWord(flag, flags);
  return meant === undefined ? sentence : `${sentence}; did you mean --${meant}?`;
}

function usageOf(command: Command): string {
  return `Usage: setpoint ${command.usage}\n`;
}

function usage(): string {
  const shown = commands.filter((each) => !each.internal);
  const lines = shown.map((each) => `  setpoint ${each.usage}\n      ${each.summary}`);
  return `Usage:\n${lines.join("\n")}\n`;
}
