/**
 * What a container said about its end: in the file that it was given for that, or by its last lines of log.
 */
import type { Container } from "@setpoint/api";
import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { entryText, logFile } from "./container-log.ts";

const messageBytesMax = 4_096;
const logLinesMax = 80;
const logBytesMax = 2_048;
/** As much of the log as 80 lines of that size can have. */
const logTailBytes = 256 * 1024;

function messageFile(podDirectory: string, container: string, attempt: number): string {
  return join(podDirectory, "termination", container, String(attempt));
}

/** An empty file that every user of the container may write. */
export function createTerminationFile(podDirectory: string, container: string, attempt: number): string {
  const file = messageFile(podDirectory, container, attempt);
  mkdirSync(dirname(file), { recursive: true });
  closeSync(openSync(file, "w"));
  chmodSync(file, 0o666);
  rmSync(messageFile(podDirectory, container, attempt - 1), { force: true });
  return file;
}

export function terminationMessage(
  podDirectory: string,
  container: Container,
  attempt: number,
  exitCode: number,
): string | undefined {
  const message = readStart(messageFile(podDirectory, container.name, attempt));
  if (message !== "") return message;
  if (container.terminationMessagePolicy !== "FallbackToLogsOnError" || exitCode === 0) return undefined;
  const tail = lastLines(logFile(podDirectory, container.name, attempt));
  return tail === "" ? undefined : tail;
}

function readStart(path: string): string {
  try {
    const file = openSync(path, "r");
    const bytes = Buffer.alloc(messageBytesMax);
    const length = readSync(file, bytes);
    closeSync(file);
    return new TextDecoder().decode(bytes.subarray(0, length), { stream: true });
  } catch {
    return "";
  }
}

/** Entries of the log without their heads: time, stream and tag. */
function lastLines(file: string): string {
  try {
    const lines = readEnd(file)
      .split("\n")
      .slice(-logLinesMax - 1);
    const text = lines.map(entryText).join("");
    return Buffer.from(text).subarray(-logBytesMax).toString();
  } catch {
    return "";
  }
}

/** The end of a file that may be large, from the start of a line. */
function readEnd(path: string): string {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const start = Math.max(0, size - logTailBytes);
    const bytes = Buffer.alloc(size - start);
    const text = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start)).toString("utf8");
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    closeSync(file);
  }
}
