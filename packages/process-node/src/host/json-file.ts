/** Small facts on disk that must be whole after a kill at any moment. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";

export function writeJson(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Undefined when there is no such file, or it is damaged. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
