/**
 * The thread of `yaml-thread.ts`. It imports no other Setpoint package, so that it starts fast from any
 * build.
 */
import { parentPort } from "node:worker_threads";
import { parseYaml } from "./parse-yaml.ts";
import { type Excess, excessOf } from "./value-bounds.ts";

export type YamlAnswer =
  | { readonly kind: "parsed"; readonly json: string; readonly duplicates: readonly string[] }
  | { readonly kind: "excess"; readonly excess: Excess }
  | { readonly kind: "fault"; readonly message: string };

function answerTo(source: string): YamlAnswer {
  try {
    const { value, duplicates } = parseYaml(source);
    const excess = excessOf(value);
    if (excess !== undefined) return { kind: "excess", excess };
    return { kind: "parsed", json: JSON.stringify(value ?? null, integer), duplicates };
  } catch (error) {
    return { kind: "fault", message: error instanceof Error ? error.message : String(error) };
  }
}

/** What the language's library has, and the types of the compiler lack. */
const { rawJSON } = JSON as JSON & { readonly rawJSON: (text: string) => object };

function integer(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? rawJSON(String(value)) : value;
}

parentPort?.on("message", (source: string) => parentPort?.postMessage(answerTo(source)));
