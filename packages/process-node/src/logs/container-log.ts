/** Container output on disk, one line an entry in the format of CRI: `<RFC 3339 nano> <stream> <F|P> <text>`. */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync, fstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "@setpoint/host";

/** A file is rotated when it is larger; one rotated file is kept beside it. */
export const logFileBytesMax: number = 10 * 1024 * 1024;
/** A longer line is cut into partial entries, as container engines do. */
const lineBytesMax = 16 * 1024;

export interface ContainerLog {
  write(stream: "stdout" | "stderr", chunk: Uint8Array): void;
  /** Writes what has no line end yet, and closes the file. */
  close(): void;
}

/** `<directory>/<container>/<attempt>.log` */
export function logFile(podDirectory: string, container: string, attempt: number): string {
  return join(podDirectory, "logs", container, `${attempt}.log`);
}

export function rotatedFile(file: string): string {
  return `${file}.1`;
}

/** Keeps the newest two attempts: kubectl can ask for the previous one. */
export function dropOldLogs(podDirectory: string, container: string, attempt: number): void {
  const file = logFile(podDirectory, container, attempt - 2);
  rmSync(file, { force: true });
  rmSync(rotatedFile(file), { force: true });
}

export function openContainerLog(clock: Clock, file: string): ContainerLog {
  mkdirSync(dirname(file), { recursive: true });
  let descriptor = openSync(file, "a");
  let size = fstatSync(descriptor).size;
  let open = true;
  const rest: Record<"stdout" | "stderr", Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const entry = (stream: string, tag: "F" | "P", text: Uint8Array): void => {
    const time = `${new Date(clock.now()).toISOString().slice(0, 23)}000000Z`;
    const line = Buffer.concat([Buffer.from(`${time} ${stream} ${tag} `), text, Buffer.from("\n")]);
    if (size + line.length > logFileBytesMax) {
      closeSync(descriptor);
      if (existsSync(file)) renameSync(file, rotatedFile(file));
      descriptor = openSync(file, "a");
      size = 0;
    }
    size += writeSync(descriptor, line);
  };
  return {
    write(stream, chunk) {
      if (!open) return;
      let pending = Buffer.concat([rest[stream], chunk]);
      for (let end = pending.indexOf(10); end !== -1; end = pending.indexOf(10)) {
        entry(stream, "F", pending.subarray(0, end));
        pending = pending.subarray(end + 1);
      }
      while (pending.length > lineBytesMax) {
        entry(stream, "P", pending.subarray(0, lineBytesMax));
        pending = pending.subarray(lineBytesMax);
      }
      rest[stream] = Buffer.from(pending);
    },
    close() {
      if (!open) return;
      for (const stream of ["stdout", "stderr"] as const) if (rest[stream].length > 0) entry(stream, "F", rest[stream]);
      open = false;
      closeSync(descriptor);
    },
  };
}
