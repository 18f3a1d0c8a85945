/** The operator's process. */
import { runOperatorProcess } from "setpoint/process";
import { etcdOperator } from "./etcd-operator.ts";
import { httpGateway } from "./gateway/http-gateway.ts";

process.exitCode = await runOperatorProcess(etcdOperator(httpGateway()));
