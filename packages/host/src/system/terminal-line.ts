import type { LogFields, LogLevel } from "../logger.ts";
import { printable } from "./json-line.ts";

/** ANSI colors: grey, none, yellow, red. */
const colors: Readonly<Record<LogLevel, number>> = { debug: 90, info: 0, warn: 33, error: 31 };

/**
 * One log line for a person: time, level, message, `key=value` for each field. The stack of an error with the
 * chain of its causes follows on lines of its own.
 */
export function terminalLine(
  timeMs: number,
  level: LogLevel,
  message: string,
  fields: LogFields,
  hasColors: boolean,
): string {
  const time = new Date(timeMs).toISOString().slice(11, 23);
  const name = level.toUpperCase().padEnd(5);
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const pairs = entries
    .filter(([, value]) => !(value instanceof Error))
    .map(([key, value]) => `${key}=${textOf(value)}`);
  // Loaded when it is needed: `node:util` brings threads, which no operator needs at its start.
  const inspect = (value: Error): string => process.getBuiltinModule("node:util").inspect(value);
  const errors = entries.flatMap(([, value]) => (value instanceof Error ? [indented(inspect(value))] : []));
  const head = [time, hasColors ? `\u001B[${colors[level]}m${name}\u001B[0m` : name, message, ...pairs].join(" ");
  return [head, ...errors].join("\n");
}

function textOf(value: unknown): string {
  if (typeof value === "string") return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  try {
    return JSON.stringify(value, printable) ?? String(value);
  } catch (error) {
    return `(unprintable: ${String(error)})`;
  }
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "    ");
}
