import type { LogFields, Logger, LogLevel } from "./logger.ts";

/** Builds a Logger on one function, which gets the fixed fields and those of the line together. */
export function loggerWith(
  fixed: LogFields,
  log: (level: LogLevel, message: string, fields: LogFields) => void,
): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      log(level, message, { ...fixed, ...fields });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => loggerWith({ ...fixed, ...fields }, log),
  };
}
