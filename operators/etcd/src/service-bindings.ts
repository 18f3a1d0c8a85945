/** The operator that projects bindings into workloads, as a program of this image. */
import { serviceBindingOperator } from "@setpoint/data-service";

export default serviceBindingOperator;
