/**
 * A further process in a running sandbox, as `kubectl exec` and exec probes need it. It joins the namespaces of the
 * container's main process with nsenter: as root always; as another user it works where the sandbox made a user namespace
 * of that same user, which nsenter joins first.
 */
import { spawn } from "node:child_process";
import { readlinkSync } from "node:fs";
import type { ContainerSpec, ExecProcess } from "../container-runtime.ts";
import { signalNumber } from "./signals.ts";

export interface SandboxExec {
  readonly pid: number;
  readonly spec: ContainerSpec;
  readonly command: readonly string[];
  readonly tty: boolean;
}

export function execInSandbox({ pid, spec, command, tty }: SandboxExec): ExecProcess {
  const directory = `/proc/${pid}/root${spec.workingDirectory ?? "/"}`;
  const user = hasOwnUserNamespace(pid) ? ["--user", "--preserve-credentials"] : [];
  const enter = ["--target", String(pid), ...user, "--mount", "--pid", "--uts", "--ipc", `--wd=${directory}`, "--"];
  const term: Record<string, string> = tty ? { TERM: "xterm" } : {};
  const child = spawn("nsenter", [...enter, ...command], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...term, ...spec.env },
    // A group of its own, so that the end reaches the command and not only nsenter, which waits for it.
    detached: true,
  });
  child.stdin.on("error", () => {
    // The program may end without reading its input.
  });
  const exited = new Promise<{ exitCode: number }>((resolve) => {
    child.once("error", () => resolve({ exitCode: 126 }));
    child.once("close", (code, signal) => resolve({ exitCode: code ?? 128 + signalNumber(signal) }));
  });
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    kill: () => killGroup(child.pid),
  };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

function hasOwnUserNamespace(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/user`) !== readlinkSync("/proc/self/ns/user");
  } catch {
    return false;
  }
}
