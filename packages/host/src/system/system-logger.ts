import { loggerWith } from "../logger-with.ts";
import type { LogFields, Logger, LogLevel } from "../logger.ts";
import { jsonLine } from "./json-line.ts";
import { writeStandardError } from "./standard-error.ts";
import { terminalLine } from "./terminal-line.ts";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Level, format and destination of the log of a process. */
export interface SystemLoggerOptions {
  /**
   * The least level that is written; default `info`. A function is called for each line, so that the level
   * can change.
   */
  readonly level?: LogLevel | (() => LogLevel);
  /** Takes one line with its line break; default: standard error. */
  readonly write?: (line: string) => void;
  /** Milliseconds since the epoch; default: the system's clock. */
  readonly now?: () => number;
  /**
   * `terminal` is for people, `json` for programs. Default: `terminal` when the lines go to a terminal, else
   * `json`.
   */
  readonly format?: "json" | "terminal";
}

/**
 * The logger of a process: one JSON object a line, or readable lines on a terminal.
 *
 * Guarantees: logging never throws. A line for which `write` throws is dropped; the next line that can be
 * written is preceded by one with the number of dropped lines. Fields that cannot be printed are replaced by
 * the reason.
 */
export function systemLogger(options: SystemLoggerOptions = {}): Logger {
  const { level = "info", write = writeStandardError, now = (): number => Date.now() } = options;
  const isTerminal = options.write === undefined && process.stderr.isTTY === true;
  const { format = isTerminal ? "terminal" : "json" } = options;
  const hasColors = isTerminal && (process.env["NO_COLOR"] ?? "") === "";
  const lineOf = (lineLevel: LogLevel, message: string, fields: LogFields): string =>
    format === "json"
      ? jsonLine(now(), lineLevel, message, fields)
      : terminalLine(now(), lineLevel, message, fields, hasColors);
  let droppedLines = 0;
  const writes = (lineLevel: LogLevel, message: string, fields: LogFields): boolean => {
    try {
      write(`${lineOf(lineLevel, message, fields)}\n`);
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
