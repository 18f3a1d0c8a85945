import { loggerWith } from "../logger-with.ts";
import type { LogFields, Logger, LogLevel } from "../logger.ts";
import { writeStandardError } from "./standard-error.ts";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface JsonLoggerOptions {
  /** The least level that is written; default `info`. A function is asked for each line, so that it can change meanwhile. */
  readonly level?: LogLevel | (() => LogLevel);
  /** Takes one line with its line break; default: standard error. */
  readonly write?: (line: string) => void;
  /** Milliseconds since the epoch; default: the system's clock. */
  readonly now?: () => number;
}

/**
 * A logger that writes one JSON object a line: `time`, `level`, `message`, then the fields.
 *
 * Guarantees: a line never throws. One that `write` throws for is dropped, and the next one that is written comes after the number of
 * those that were dropped. Fields that JSON cannot print are replaced by the reason.
 */
export function systemLogger(options: JsonLoggerOptions = {}): Logger {
  const { level = "info", write = writeStandardError, now = (): number => Date.now() } = options;
  const time = (): string => new Date(now()).toISOString();
  let droppedLines = 0;
  const writes = (lineLevel: LogLevel, message: string, fields: LogFields): boolean => {
    try {
      write(`${lineOf(time(), lineLevel, message, fields)}\n`);
      return true;
    } catch {
      return false;
    }
  };
  return loggerWith({}, (lineLevel, message, fields) => {
    if (levels.indexOf(lineLevel) < levels.indexOf(typeof level === "function" ? level() : level)) return;
    if (droppedLines > 0 && writes("warn", "Log lines could not be written", { lines: droppedLines })) droppedLines = 0;
    if (droppedLines > 0 || !writes(lineLevel, message, fields)) droppedLines++;
  });
}

function lineOf(time: string, level: LogLevel, message: string, fields: LogFields): string {
  try {
    return JSON.stringify({ time, level, message, ...fields }, printable);
  } catch (error) {
    return JSON.stringify({ time, level, message, unprintable: String(error) });
  }
}

/** Errors, which JSON would print as `{}`, with the chain of their causes; and what JSON cannot print at all. */
function printable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}

function describeError(error: Error): Record<string, unknown> {
  const { code } = error as { readonly code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
