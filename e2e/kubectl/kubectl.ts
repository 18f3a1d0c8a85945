/** Stock kubectl as a user runs it: own home, own kubeconfig, exit code and both outputs. */
import { type ChildProcess, execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinary } from "./binaries.ts";

/** No command of these tests may hang longer, but for those that say so. */
const commandMsMax = 30_000;

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running extends Promise<Answer> {
  readonly child: ChildProcess;
}

export interface CommandOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** For a command that waits for longer than others may. */
  readonly timeoutMs?: number;
}

export class Kubectl implements Disposable {
  /** Files for a test's use; removed at the end. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;

  constructor(kubeconfig: string) {
    this.folder = mkdtempSync(join(tmpdir(), "setpoint-kubectl-home-"));
    const config = join(this.folder, "kubeconfig");
    writeFileSync(config, kubeconfig, { mode: 0o600 });
    this.env = { HOME: this.folder, KUBECONFIG: config, PATH: process.env["PATH"] ?? "" };
  }

  /** The words of `command` are split at spaces; arguments that hold some follow it. */
  run(command: string, more: readonly string[] = [], options: CommandOptions = {}): Running {
    return this.#start(findBinary("kubectl"), command, more, options);
  }

  helm(command: string, timeoutMs: number = commandMsMax): Running {
    return this.#start(findBinary("helm"), command, [], { timeoutMs });
  }

  /** The output of a command that must do what it says. */
  async ok(command: string, more: readonly string[] = [], options: CommandOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, more, options);
    if (code !== 0) throw new Error(`kubectl ${command} ${more.join(" ")}: exit code ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  file(name: string, content: string, mode = 0o644): string {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode });
    return path;
  }

  #start(binary: string, command: string, more: readonly string[], options: CommandOptions): Running {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const settings = {
      env: { ...this.env, ...options.env },
      timeout: options.timeoutMs ?? commandMsMax,
      maxBuffer: 64 * 1024 * 1024,
    };
    const args = [...command.split(" ").filter((word) => word !== ""), ...more];
    const child = execFile(binary, args, settings, (_, stdout, stderr) =>
      // Killed ones have no code.
      resolve({ code: child.exitCode ?? 128, stdout, stderr }),
    );
    child.stdin?.end(options.input ?? "");
    return Object.assign(promise, { child });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
