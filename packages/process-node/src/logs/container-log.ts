/**
 * Where container output lies: one line an entry in the format of CRI,
 * `<RFC 3339 nano> <stream> <F|P> <text>`.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";

/** `<directory>/<container>/<attempt>.log` */
export function logFile(podDirectory: string, container: string, attempt: number): string {
  return join(podDirectory, "logs", container, `${attempt}.log`);
}

export function rotatedFile(file: string): string {
  return `${file}.1`;
}

/** What an entry says, without its head. A partial one has no line end of its own. */
export function entryText(entry: string): string {
  const [, , tag, ...words] = entry.split(" ");
  return tag === undefined ? "" : `${words.join(" ")}${tag === "P" ? "" : "\n"}`;
}

/** Keeps the newest two attempts: kubectl can ask for the previous one. */
export function dropOldLogs(podDirectory: string, container: string, attempt: number): void {
  const file = logFile(podDirectory, container, attempt - 2);
  rmSync(file, { force: true });
  rmSync(rotatedFile(file), { force: true });
}
