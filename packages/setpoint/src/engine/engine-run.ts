/** Which program an engine runs, with what it is asked and how it answers. */
import { SetpointError, type KubeObject } from "@setpoint/apimachinery";
import { errProgramInput } from "./programs.ts";

/** Which program to run, its input, its output format and its limits. */
export interface EngineRunInit {
  /**
   * The program and its arguments. `{{metadata.name}}` and other fields of metadata and spec are filled in.
   */
  readonly command: readonly string[];
  /**
   * What is on its standard input, as JSON: the spec (default), the object without its status, or
   * Metacontroller's request.
   */
  readonly input?: "spec" | "object" | "request";
  /** What it writes: objects in YAML or JSON (default), or Metacontroller's response. */
  readonly output?: "manifests" | "response";
  /** Files and folders on which the output depends; a change of one of them runs the program again. */
  readonly files?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Default 10 seconds. */
  readonly timeoutMs?: number;
  /** Default 4 MiB. */
  readonly outputBytesMax?: number;
}

const timeoutMsDefault = 10_000;
const outputBytesMaxDefault = 4 * 1_024 * 1_024;

export type EngineRun = Required<EngineRunInit>;

export function completeRun(init: EngineRunInit): EngineRun {
  return {
    input: "spec",
    output: "manifests",
    files: [],
    environment: {},
    timeoutMs: timeoutMsDefault,
    outputBytesMax: outputBytesMaxDefault,
    ...init,
  };
}

const placeholder = /\{\{\s*([^{}\s]+)\s*\}\}/g;

/**
 * The command for one object. A user of the kind must not be able to add options to it: what is filled in at
 * the beginning of an argument may not begin with `-`.
 */
export function commandFor(command: readonly string[], object: KubeObject): readonly string[] {
  return command.map((argument) => {
    const filled = argument.replaceAll(placeholder, (_, path: string) => fieldOf(object, path));
    if (filled.startsWith("-") && !argument.startsWith("-"))
      throw inputError(argument, `"${filled}" would be an option, because it begins with "-"`);
    return filled;
  });
}

function fieldOf(object: KubeObject, path: string): string {
  const [root = "", ...names] = path.split(".");
  if (root !== "metadata" && root !== "spec")
    throw inputError(`{{${path}}}`, "only metadata and spec have fields for it");
  let value: unknown = (object as unknown as Readonly<Record<string, unknown>>)[root];
  for (const name of names)
    value =
      typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  const state = value === undefined || value === null ? "the object has no such field" : "the field is no single value";
  throw inputError(`{{${path}}}`, state);
}

function inputError(argument: string, problem: string): SetpointError {
  return new SetpointError(errProgramInput, `Cannot fill the argument "${argument}" of the command: ${problem}`);
}
