/** The operator's process, or by its first argument a program of its pods: a transfer, or a copy of data. */
import { runOperatorProcess } from "setpoint/process";
import { etcdOperator } from "./etcd-operator.ts";
import { copyAsideCommand, removeCopiesCommand } from "./resources/survivor-copy.ts";
import { pinnedImages } from "./related-images.ts";
import { httpGateway } from "./gateway/http-gateway.ts";

/** From here the kubelet takes the outcome of a container. */
const terminationLog = "/dev/termination-log";

async function runOperator(): Promise<number> {
  /**
   * Repositories of images that EtcdClusters may name, separated by commas; the first replaces one that is
   * refused later.
   */
  const listed = process.env["ETCD_IMAGE_REPOSITORIES"] ?? "";
  const repositories = listed.split(",").map((each) => each.trim());
  const accepts = {
    pinnedImages: pinnedImages(process.env),
    ...(listed === "" ? {} : { imageRepositories: repositories }),
  };
  return runOperatorProcess(etcdOperator(httpGateway(), accepts, process.env["SETPOINT_OPERATOR_IMAGE"]));
}

/**
 * Loaded only here: the operator needs no access to stores. A call of the store that was abandoned must not
 * keep the process alive.
 */
async function runTransfer(): Promise<never> {
  const { runEtcdAgent } = await import("./backup/run-etcd-agent.ts");
  process.exit(await runEtcdAgent());
}

async function runCopy(command: string, [first = "", second = ""]: readonly string[]): Promise<number> {
  const { runCopyAside, runRemoveCopies } = await import("./backup/survivor-copy.ts");
  return command === copyAsideCommand
    ? runCopyAside({ source: first, target: second }, terminationLog)
    : runRemoveCopies(first, terminationLog);
}

function run([command = "", ...args]: readonly string[]): Promise<number> {
  if (command === "agent") return runTransfer();
  return command === copyAsideCommand || command === removeCopiesCommand ? runCopy(command, args) : runOperator();
}

process.exitCode = await run(process.argv.slice(2));
