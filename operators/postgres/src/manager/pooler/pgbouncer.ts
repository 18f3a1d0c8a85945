/** The process PgBouncer of this pod. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { lastLine } from "../programs.ts";
import { poolerPaths } from "./pooler-files.ts";

const folders = (): readonly string[] => [
  "/usr/sbin",
  "/usr/bin",
  "/opt/bin",
  ...(process.env["PATH"] ?? "").split(":"),
];

/** Throws when the image has none. */
export function findPgbouncer(): string {
  const folder = folders().find((each) => existsSync(join(each, "pgbouncer")));
  if (folder !== undefined) return join(folder, "pgbouncer");
  throw new Error("Cannot find the program pgbouncer in /usr/sbin or the PATH: use an image of PgBouncer");
}

export class Pgbouncer {
  readonly #program: string;
  readonly #onExit: () => void;
  #child: ChildProcess | undefined;
  #lastWords: string | undefined;

  constructor(program: string, onExit: () => void) {
    this.#program = program;
    this.#onExit = onExit;
  }

  get isAlive(): boolean {
    return this.#child !== undefined;
  }

  /** What it logged before it ended by itself. */
  get lastWords(): string | undefined {
    return this.#lastWords;
  }

  start(): void {
    if (this.#child !== undefined) return;
    const child = spawn(this.#program, [poolerPaths.configuration], { stdio: ["ignore", "inherit", "pipe"] });
    child.stderr.on("data", (piece: Buffer) => {
      process.stderr.write(piece);
      this.#lastWords = lastLine(piece.toString("utf8"));
    });
    const ended = (): void => {
      this.#child = undefined;
      this.#onExit();
    };
    child.once("exit", ended);
    child.once("error", ended);
    this.#child = child;
  }

  /** Open transactions end first. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await exited;
  }
}
