import { parseArgs } from "node:util";
import { encodeJson, SetpointError, type ApiRequest } from "@setpoint/apimachinery";
import type { Divergence, ReplayResult } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import { refuseMore, usageError, type Command } from "../command.ts";
import { readRecording } from "../flight/recording-file.ts";
import { replayOperator } from "../flight/replay-operator.ts";
import { loadOperator } from "../load-operator.ts";
import { fieldDiff } from "../plan/field-diff.ts";

/** `setpoint replay`: gives an operator the inputs of a recording and says whether it does the same. */
export const replay: Command = {
  name: "replay",
  usage: "replay RECORDING FILE [--until ENTRY] [--verbose]",
  summary:
    "Run the operator that FILE exports with the inputs of a recording, without a cluster; exit code 1 where it does something else.",
  async run(args, output) {
    const options = { until: { type: "string" }, verbose: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("replay", positionals, 2);
    const [path, file] = positionals;
    if (path === undefined) throw new SetpointError(usageError, "Cannot replay: the recording is missing");
    const operator = await loadOperator(file, "replay");
    const { header, entries } = readRecording(path);
    const until = values.until === undefined ? entries.length : Number(values.until);
    if (!Number.isInteger(until) || until < 1 || until > entries.length) {
      throw new SetpointError(
        usageError,
        `Cannot use --until ${values.until}: expected an entry from 1 to ${entries.length}`,
      );
    }
    const host = systemHost({ write: (line) => (values.verbose === true ? output.err(line) : undefined) });
    const result = await replayOperator(operator, { header, entries: entries.slice(0, until) }, host);
    for (const { atMs, request } of result.writes) output.out(`${seconds(atMs)} ${request.method} ${request.path}\n`);
    output.out(summary(result, header.program, until));
    return result.divergence === undefined ? 0 : 1;
  },
};

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3).padStart(10)} s`;
}

function summary(result: ReplayResult, program: string, entries: number): string {
  const { divergence, writes, requests, end } = result;
  if (divergence !== undefined) return divergenceText(divergence);
  const why = { stopped: "", full: " The recording ended before the operator did: it was full.", cut: "" }[end];
  return `The operator "${program}" did the same: ${requests} requests, ${writes.length} of them writes, ${entries} entries.${why}\n`;
}

/** Where and what, as one sentence, and the fields in which the two requests differ. */
export function divergenceText({ entry, atMs, message, recorded, actual }: Divergence): string {
  const lines = [`Diverged at entry ${entry}, ${(atMs / 1_000).toFixed(3)} s after the start: ${message}.`];
  if (recorded !== undefined && actual !== undefined) {
    for (const { path, before, after } of fieldDiff(plain(recorded), plain(actual))) {
      if (before !== undefined) lines.push(`  - ${path}: ${encodeJson(before)}`);
      if (after !== undefined) lines.push(`  + ${path}: ${encodeJson(after)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function plain({ method, path, query, headers, body }: ApiRequest): object {
  return { method, path, query, headers, body };
}
