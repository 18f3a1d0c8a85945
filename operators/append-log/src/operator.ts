/** The operator with the settings of the environment, as its process runs it. */
import { appendLogOperator } from "./append-log-operator.ts";
import { httpLogGateway } from "./log-gateway.ts";

const command = [process.execPath, process.argv[1] ?? ""];

export default appendLogOperator(httpLogGateway, { image: process.env["SETPOINT_OPERATOR_IMAGE"] ?? "", command });
