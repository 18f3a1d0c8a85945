/** The operator with the settings of the environment, as its process runs it. */
import { httpsGateway } from "./instance/https-gateway.ts";
import { postgresOperator } from "./postgres-operator.ts";

export default postgresOperator(httpsGateway(), process.env["SETPOINT_OPERATOR_IMAGE"] ?? "");
