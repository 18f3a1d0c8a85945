/** A program of the host that stands for a process in a container, and carries its streams. */
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { killTree } from "../host/process-tree.ts";
import type { ExecProcess } from "./container-runtime.ts";
import { signalNumber } from "./signals.ts";
import { sizeLine, sizesDescriptor } from "./terminal-relay.ts";

/** `child` has pipes as its streams; one that has a terminal reads sizes on a further pipe. */
export function relayProcess(child: ChildProcess): ExecProcess {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new TypeError("Cannot relay: no pipes");
  const sizes = child.stdio[sizesDescriptor] as Writable | null | undefined;
  // The program may end without reading what it is sent.
  for (const each of [stdin, sizes]) each?.on("error", () => {});
  const exited = new Promise<{ exitCode: number }>((resolve) => {
    child.once("error", () => resolve({ exitCode: 126 }));
    child.once("close", (code, signal) => resolve({ exitCode: code ?? 128 + signalNumber(signal) }));
  });
  let isKilled = false;
  return {
    stdin,
    stdout,
    stderr,
    exited,
    resize: (size) => void (sizes?.writable === true && sizes.write(sizeLine(size))),
    kill() {
      if (isKilled) return;
      isKilled = true;
      endTree(child);
      // What left its tree keeps the other ends open until the container ends.
      for (const each of [stdout, stderr] satisfies Readable[]) each.destroy();
    },
  };
}

function endTree({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) killTree(pid);
}
