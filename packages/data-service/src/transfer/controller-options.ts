/** What the controllers of data services get from the operator's process. */
export interface ControllerOptions {
  /**
   * The image of the operator, which transfer pods run with the argument `agent`: the environment variable
   * SETPOINT_OPERATOR_IMAGE, which the installation sets. Without it nothing is transferred, and the status
   * says so.
   */
  readonly image: string | undefined;
}
