/** kubectl in a pseudo-terminal, as a person uses it: typed and shown text, and the size of the window. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findBinary } from "./binaries.ts";
import type { Kubectl } from "./kubectl.ts";

export interface WindowSize {
  readonly rows: number;
  readonly columns: number;
}

let terminals = 0;

export class Terminal implements Disposable {
  readonly #child: ChildProcess;
  /** Where the shell writes which terminal it has. */
  readonly #nameFile: string;
  /** All that was shown, with the line ends of a terminal. */
  shown = "";
  /** The exit code of kubectl. */
  readonly exited: Promise<number>;

  constructor({ env, folder }: Kubectl, command: readonly string[], { rows, columns }: WindowSize) {
    this.#nameFile = join(folder, `terminal-${++terminals}`);
    const words = [findBinary("kubectl"), ...command].map((word) => `'${word}'`).join(" ");
    const line = `stty rows ${rows} cols ${columns}; tty > ${this.#nameFile}; exec ${words}`;
    this.#child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
      env: { ...env, SHELL: "/bin/sh", TERM: "xterm" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdin?.on("error", () => {});
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.shown += chunk.toString()));
    this.exited = new Promise((resolve) => this.#child.once("close", (code) => resolve(code ?? 128)));
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  resize({ rows, columns }: WindowSize): void {
    const name = readFileSync(this.#nameFile, "utf8").trim();
    execFileSync("stty", ["-F", name, "rows", String(rows), "cols", String(columns)]);
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}
