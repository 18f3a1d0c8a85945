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
import { relayProcess } from "./relay-process.ts";
import { toolEnvironment } from "../host/run-tool.ts";
import { terminalRelayCommand } from "./terminal-relay.ts";

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
  const socket = `exec-${id}.sock`;
  const line = tty
    ? terminalRelayCommand(socket, crun(["exec", "--process", file, "--tty", "--console-socket", socket, name]))
    : crun(["exec", "--process", file, name]);
  writeFileSync(file, JSON.stringify({ ...ociProcess(spec, command, { tty }) }), { mode: 0o600 });
  const [program = "", ...args] = line;
  const child = spawn(program, args, {
    // A socket's path may be no longer than 108 bytes.
    cwd: tty ? bundle : "/",
    env: toolEnvironment,
    stdio: ["pipe", "pipe", "pipe", tty ? "pipe" : "ignore"],
    detached: true,
  });
  const running = relayProcess(child);
  void running.exited.then(() => {
    for (const each of [file, join(bundle, socket)]) rmSync(each, { force: true });
  });
  return running;
}
