import type { LogFields, Logger, LogLevel } from "./logger.ts";

type WriteLine = (level: LogLevel, message: string, fields: LogFields) => void;

/** Builds a Logger on one function, which gets the fixed fields and those of the line together. */
export function loggerWith(fixed: LogFields, write: WriteLine): Logger {
  return new FieldLogger(fixed, write);
}

/** A class, since each run of a key has a logger of its own that mostly writes nothing. */
class FieldLogger implements Logger {
  readonly #fixed: LogFields;
  readonly #write: WriteLine;

  constructor(fixed: LogFields, write: WriteLine) {
    this.#fixed = fixed;
    this.#write = write;
  }

  debug(message: string, fields?: LogFields): void {
    this.#write("debug", message, { ...this.#fixed, ...fields });
  }

  info(message: string, fields?: LogFields): void {
    this.#write("info", message, { ...this.#fixed, ...fields });
  }

  warn(message: string, fields?: LogFields): void {
    this.#write("warn", message, { ...this.#fixed, ...fields });
  }

  error(message: string, fields?: LogFields): void {
    this.#write("error", message, { ...this.#fixed, ...fields });
  }

  with(fields: LogFields): Logger {
    return new FieldLogger({ ...this.#fixed, ...fields }, this.#write);
  }
}
