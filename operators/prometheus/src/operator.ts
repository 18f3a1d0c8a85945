/** The operator with the settings of the environment, as its process runs it. */
import { httpLoadedGateway } from "./observe/loaded-gateway.ts";
import { httpPoolGateway } from "./observe/pool-gateway.ts";
import { prometheusOperator } from "./prometheus-operator.ts";

export default prometheusOperator(
  httpLoadedGateway,
  { image: process.env["SETPOINT_OPERATOR_IMAGE"] ?? "", options: { endpointSlices: true } },
  httpPoolGateway,
);
