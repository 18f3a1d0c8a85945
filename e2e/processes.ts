import { readdirSync, readFileSync } from "node:fs";

/** The processes of this machine whose command line holds `text`. */
export function processesWith(text: string): readonly number[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return pids.filter((pid) => commandLine(pid).includes(text)).map(Number);
}

/** Its arguments with spaces between them; empty for one that has ended. */
export function commandLine(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // It ended while we looked.
  }
}

/** Mount points of this machine whose line holds `text`. */
export function mountsWith(text: string): readonly string[] {
  const lines = readFileSync("/proc/mounts", "utf8").split("\n");
  return lines.filter((line) => line.includes(text)).map((line) => line.split(" ")[1] ?? line);
}
