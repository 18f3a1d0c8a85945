/**
 * A further process in a running container, as `kubectl exec` and exec probes need it: `crun exec` with the
 * container's own rights.
 */
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ContainerSpec, ExecProcess } from "./container-runtime.ts";
import { ociProcess } from "./oci-process.ts";
import { killTree } from "../host/process-tree.ts";
import { toolEnvironment } from "../host/run-tool.ts";
import { signalNumber } from "./signals.ts";

export interface OciExec {
  readonly spec: ContainerSpec;
  /** The container's folder; the description of the process, which has secrets, lies there while it runs. */
  readonly bundle: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  /** From arguments of crun to the command that runs it on this host. */
  readonly crun: (args: readonly string[]) => readonly string[];
  readonly name: string;
}

export function execInContainer({ spec, bundle, command, tty, crun, name }: OciExec): ExecProcess {
  const id = randomUUID();
  const file = join(bundle, `exec-${id}.json`);
  // Its streams are pipes in any case.
  const description = { ...ociProcess(spec, command, { tty }), terminal: false };
  writeFileSync(file, JSON.stringify(description), { mode: 0o600 });
  const [program = "", ...args] = crun(["exec", "--process", file, name]);
  const child = spawn(program, args, {
    cwd: "/",
    env: toolEnvironment,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  child.stdin.on("error", () => {
    // The program may end without reading its input.
  });
  const exited = new Promise<{ exitCode: number }>((resolve) => {
    child.once("error", () => resolve({ exitCode: 126 }));
    child.once("close", (code, signal) => resolve({ exitCode: code ?? 128 + signalNumber(signal) }));
  });
  let isKilled = false;
  void exited.then(() => rmSync(file, { force: true }));
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    kill() {
      if (isKilled) return;
      isKilled = true;
      const isOver = child.exitCode !== null || child.signalCode !== null;
      if (child.pid !== undefined && !isOver) killTree(child.pid);
      // What left its tree keeps the other ends open until the container ends.
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}
