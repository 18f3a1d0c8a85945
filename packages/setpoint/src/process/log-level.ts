import type { LogLevel } from "@setpoint/host";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The least level that is logged, which may change while the process runs. */
export class LogLevelControl {
  #level: LogLevel;

  constructor(level: LogLevel = "info") {
    this.#level = level;
  }

  get level(): LogLevel {
    return this.#level;
  }

  /** Says whether the text names a level. */
  set(text: string): boolean {
    const level = levels.find((each) => each === text.trim());
    if (level === undefined) return false;
    this.#level = level;
    return true;
  }
}
