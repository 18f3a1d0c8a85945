import type { LogFields, Logger, LogLevel } from "./logger.ts";

type WriteLine = (level: LogLevel, message: string, fields: LogFields) => void;

/** Builds a Logger on one function, which gets the fixed fields and those of the line together. */
export function loggerWith(fixed: LogFields, write: WriteLine): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void =>
      write(level, message, { ...fixed, ...fields });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => loggerWith({ ...fixed, ...fields }, write),
  };
}
