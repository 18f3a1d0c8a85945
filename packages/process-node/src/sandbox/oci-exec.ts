/** A further process in a running container, as `kubectl exec` and exec probes need it: `crun exec` with the container's own rights. */
import { randomUUID } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "@setpoint/host";
import type { ContainerSpec, ExecProcess } from "../container-runtime.ts";
import { ociProcess } from "./oci-process.ts";
import { toolEnvironment } from "./run-tool.ts";
import { signalNumber } from "./signals.ts";

const startPollMs = 20;
const startTriesMax = 250;

export interface OciExec {
  readonly clock: Clock;
  readonly spec: ContainerSpec;
  /** The container's folder; the description of the process, which has secrets, lies there while it runs. */
  readonly bundle: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  /** From arguments of crun to the command that runs it on this host. */
  readonly crun: (args: readonly string[]) => readonly string[];
  readonly name: string;
}

export function execInContainer({ clock, spec, bundle, command, tty, crun, name }: OciExec): ExecProcess {
  const id = randomUUID();
  const files = { process: join(bundle, `exec-${id}.json`), pid: join(bundle, `exec-${id}.pid`) };
  // Its streams are pipes in any case.
  const description = { ...ociProcess(spec, command, { tty }), terminal: false };
  writeFileSync(files.process, JSON.stringify(description), { mode: 0o600 });
  const [program = "", ...args] = crun(["exec", "--process", files.process, "--pid-file", files.pid, name]);
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
  void exited.then(() => {
    for (const file of Object.values(files)) rmSync(file, { force: true });
  });
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    kill() {
      if (isKilled || child.exitCode !== null || child.signalCode !== null) return;
      isKilled = true;
      void untilStarted(clock, child, files.pid).then(() => {
        killGroup(groupOf(readPid(files.pid)));
        killGroup(child.pid);
        // What left its group keeps the other ends open until the container ends.
        child.stdout.destroy();
        child.stderr.destroy();
      });
    },
  };
}

/** The command may have begun, and written, before crun says which process it is. */
async function untilStarted(clock: Clock, child: ChildProcess, pidFile: string): Promise<void> {
  for (let i = 0; i < startTriesMax && readPid(pidFile) === undefined; i++) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    await sleep(clock, startPollMs);
  }
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8").trim());
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** The process group, which crun makes for the command and its children. */
function groupOf(pid: number | undefined): number | undefined {
  try {
    const stat = pid === undefined ? "" : readFileSync(`/proc/${pid}/stat`, "utf8");
    const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
    return group > 1 ? group : undefined;
  } catch {
    return undefined;
  }
}

function killGroup(group: number | undefined): void {
  try {
    if (group !== undefined) process.kill(-group, "SIGKILL");
  } catch {
    // It ended in between.
  }
}
