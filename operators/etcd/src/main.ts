/** The operator's process, or, with the argument `agent`, the program of a transfer pod. */
import { runOperatorProcess } from "setpoint/process";
import { etcdOperator } from "./etcd-operator.ts";
import { pinnedImages } from "./related-images.ts";
import { httpGateway } from "./gateway/http-gateway.ts";

async function runOperator(): Promise<number> {
  /** Repositories of images that EtcdClusters may name, separated by commas; the first replaces one that is refused later. */
  const listed = process.env["ETCD_IMAGE_REPOSITORIES"] ?? "";
  const repositories = listed.split(",").map((each) => each.trim());
  const accepts = {
    pinnedImages: pinnedImages(process.env),
    ...(listed === "" ? {} : { imageRepositories: repositories }),
  };
  return runOperatorProcess(etcdOperator(httpGateway(), accepts, process.env["SETPOINT_OPERATOR_IMAGE"]));
}

/** Loaded only here: the operator needs no access to stores. A call of the store that was abandoned must not keep the process alive. */
async function runTransfer(): Promise<never> {
  const { runEtcdAgent } = await import("./backup/run-etcd-agent.ts");
  process.exit(await runEtcdAgent());
}

process.exitCode = process.argv[2] === "agent" ? await runTransfer() : await runOperator();
