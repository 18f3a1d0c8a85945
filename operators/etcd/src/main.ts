/** The operator's process. */
import { runOperatorProcess } from "setpoint/process";
import { etcdOperator } from "./etcd-operator.ts";
import { httpGateway } from "./gateway/http-gateway.ts";

/** Repositories of images that EtcdClusters may name, separated by commas; the first replaces one that is refused later. */
const listed = process.env["ETCD_IMAGE_REPOSITORIES"] ?? "";
const repositories = listed.split(",").map((each) => each.trim());
const accepts = listed === "" ? {} : { imageRepositories: repositories };

process.exitCode = await runOperatorProcess(etcdOperator(httpGateway(), accepts));
