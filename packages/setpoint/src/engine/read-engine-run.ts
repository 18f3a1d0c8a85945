/** The field `run` of a hook that is a program. */
import { isJsonObject } from "@setpoint/apimachinery";
import { millisecondsOf } from "../hook/duration.ts";
import type { EngineRunInit } from "./engine-run.ts";

type Fail = (problem: string) => never;

const inputs = ["spec", "object", "request"] as const;
const outputs = ["manifests", "response"] as const;
const known: ReadonlySet<string> = new Set([
  "command",
  "input",
  "output",
  "files",
  "environment",
  "timeout",
  "outputBytesMax",
]);

export function readEngineRun(value: unknown, fail: Fail): EngineRunInit {
  if (!isJsonObject(value)) return fail("hooks.sync.run is no object");
  const stray = Object.keys(value).find((field) => !known.has(field));
  if (stray !== undefined) fail(`hooks.sync.run has no field "${stray}"; it has ${[...known].join(", ")}`);
  const { command, environment = {}, timeout, outputBytesMax } = value;
  if (!isListOfTexts(command) || command.length === 0)
    return fail('hooks.sync.run.command is no list of texts, such as ["helm", "template", …]');
  const files = value["files"] ?? [];
  if (!isListOfTexts(files)) return fail("hooks.sync.run.files is no list of paths");
  if (!isJsonObject(environment) || !isListOfTexts(Object.values(environment)))
    return fail("hooks.sync.run.environment is no map of texts");
  const timeoutMs = millisecondsOf(timeout);
  if (timeout !== undefined && timeoutMs === undefined)
    fail(`hooks.sync.run.timeout is ${JSON.stringify(timeout)}; expected a duration such as "30s" or "500ms"`);
  if (outputBytesMax !== undefined && !(typeof outputBytesMax === "number" && outputBytesMax > 0))
    return fail("hooks.sync.run.outputBytesMax is no number of bytes");
  return {
    command,
    files,
    // All of its values are texts: checked just now.
    environment: environment as Readonly<Record<string, string>>,
    input: oneOf("input", value["input"], inputs, fail),
    output: oneOf("output", value["output"], outputs, fail),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(outputBytesMax === undefined ? {} : { outputBytesMax }),
  };
}

/** The first one is the default. */
function oneOf<const T extends string>(field: string, value: unknown, wanted: readonly [T, ...T[]], fail: Fail): T {
  if (value === undefined) return wanted[0];
  const found = wanted.find((each) => each === value);
  return found ?? fail(`hooks.sync.run.${field} is ${JSON.stringify(value)}; expected ${wanted.join(", ")}`);
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
