import { loggerWith } from "../logger-with.ts";
import type { Logger, LogLevel } from "../logger.ts";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface JsonLoggerOptions {
  /** The least level that is written; default `info`. A function is asked for each line, so that it can change meanwhile. */
  readonly level?: LogLevel | (() => LogLevel);
  /** Takes one line with its line break; default: standard error. */
  readonly write?: (line: string) => void;
  /** Milliseconds since the epoch; default: the system's clock. */
  readonly now?: () => number;
}

/** A logger that writes one JSON object a line: `time`, `level`, `message`, then the fields. */
export function systemLogger(options: JsonLoggerOptions = {}): Logger {
  const {
    level = "info",
    write = (line: string): void => void process.stderr.write(line),
    now = (): number => Date.now(),
  } = options;
  return loggerWith({}, (lineLevel, message, fields) => {
    if (levels.indexOf(lineLevel) < levels.indexOf(typeof level === "function" ? level() : level)) return;
    const line = { time: new Date(now()).toISOString(), level: lineLevel, message, ...fields };
    write(`${JSON.stringify(line, printable)}\n`);
  });
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
