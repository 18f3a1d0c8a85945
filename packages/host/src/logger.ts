/** Structured logging: a constant message and facts as keys. */

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Structured values of a log line, by name. An Error under `error` is printed with its causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes log lines with structured fields. Levels, from least to most important: debug, info, warn, error.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** An operator may have to act. The chain of `error.cause` is printed when `fields.error` is an Error. */
  error(message: string, fields?: LogFields): void;
  /** A logger whose lines carry `fields` too. */
  with(fields: LogFields): Logger;
}

/** Writes nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLogger,
};
