/** Streams a base backup of the server of this pod, as PostgreSQL's own tool takes it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { endedAtTrailer } from "../instance/manager-paths.ts";
import { paths } from "./paths.ts";
import { lastLine, type Programs } from "./programs.ts";

/** Of what the tool complains about, the end is enough. */
const complaintBytesMax = 4_096;

export class BaseBackups {
  readonly #programs: Programs;
  #running: ChildProcess | undefined;

  readonly #now: () => Promise<number>;

  /** `now` is the time by which the server stamps commits, in milliseconds since the epoch. */
  constructor(programs: Programs, now: () => Promise<number>) {
    this.#programs = programs;
    this.#now = now;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Writes the archive with the log that makes it consistent, and ends the response. Rejects before the first
   * byte, or destroys the response, so that no reader takes a part for the whole. A reader that goes ends the
   * backup.
   */
  async send(response: ServerResponse): Promise<void> {
    const args = ["-D", "-", "-F", "tar", "-X", "fetch", "-c", "fast", "--manifest-checksums=SHA256", "--no-password"];
    const child = spawn(this.#programs.path("pg_basebackup"), [...args, "-h", paths.socket, "-U", "postgres"], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, LC_ALL: "C", PGAPPNAME: "setpoint-backup" },
    });
    this.#running = child;
    let complaint = "";
    child.stderr.on("data", (piece: Buffer) => (complaint = (complaint + piece.toString()).slice(-complaintBytesMax)));
    const closed = once(child, "close");
    const endWithReader = (): void => void child.kill();
    response.once("close", endWithReader);
    try {
      await firstByte(child, closed, () => lastLine(complaint));
      response.writeHead(200, { "content-type": "application/x-tar", trailer: endedAtTrailer });
      child.stdout.pipe(response, { end: false });
      const [code] = (await closed) as [number | null];
      if (code === 0) {
        response.addTrailers({ [endedAtTrailer]: String(await this.#now()) });
        response.end();
      } else response.destroy(new Error(`pg_basebackup ended with ${code}: ${lastLine(complaint)}`));
    } finally {
      response.off("close", endWithReader);
      child.kill();
      this.#running = undefined;
    }
  }
}

/** A tool that refuses says so before it writes. */
async function firstByte(child: ChildProcess, closed: Promise<unknown>, why: () => string): Promise<void> {
  const readable = child.stdout === null ? closed : once(child.stdout, "readable");
  await Promise.race([readable, closed]);
  if ((child.stdout?.readableLength ?? 0) > 0) return;
  await closed;
  throw new Error(`pg_basebackup ended with ${child.exitCode}: ${why()}`);
}
