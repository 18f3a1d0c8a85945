/** The operator with the settings of the environment, as its process runs it. */
import { complianceOperator } from "./compliance-operator.ts";

export default complianceOperator(process.env["SETPOINT_OPERATOR_IMAGE"] ?? "");
