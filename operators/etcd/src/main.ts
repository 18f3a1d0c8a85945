/**
 * The operator's process, or by its first argument another program of the image: the operator that projects
 * bindings into workloads, a transfer, a mirror, or a copy of data.
 */
import { runOperatorProcess } from "setpoint/process";
import { mirrorCommand } from "./mirror/mirror-request.ts";
import { copyAsideCommand, removeCopiesCommand } from "./resources/survivor-copy.ts";

/** From here the kubelet takes the outcome of a container. */
const terminationLog = "/dev/termination-log";

/** The other programs need no operator. */
async function runOperator(): Promise<number> {
  const { default: operator } = await import("./operator.ts");
  return runOperatorProcess(operator);
}

/** It may change workloads, which the etcd operator may not, so it is a process with rights of its own. */
async function runBindings(): Promise<number> {
  const { default: operator } = await import("./service-bindings.ts");
  return runOperatorProcess(operator);
}

/**
 * Loaded only here: the operator needs no access to stores. A call of the store that was abandoned must not
 * keep the process alive.
 */
async function runTransfer(): Promise<never> {
  const { runEtcdAgent } = await import("./engine/run-etcd-agent.ts");
  process.exit(await runEtcdAgent());
}

async function runCopy(command: string, [first = "", second = ""]: readonly string[]): Promise<number> {
  const { runCopyAside, runRemoveCopies } = await import("./engine/survivor-copy.ts");
  return command === copyAsideCommand
    ? runCopyAside({ source: first, target: second }, terminationLog)
    : runRemoveCopies(first, terminationLog);
}

async function runMirror(): Promise<number> {
  const { runMirror: follow } = await import("./mirror/run-mirror.ts");
  return follow();
}

function run([command = "", ...args]: readonly string[]): Promise<number> {
  if (command === "agent") return runTransfer();
  if (command === "service-bindings") return runBindings();
  if (command === mirrorCommand) return runMirror();
  return command === copyAsideCommand || command === removeCopiesCommand ? runCopy(command, args) : runOperator();
}

process.exitCode = await run(process.argv.slice(2));
