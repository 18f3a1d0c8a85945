/** The errors of this package; see the README for what a caller does about each. */
import { isSetpointError, SetpointError } from "@setpoint/apimachinery";

/** A kind that the controller does not reconcile, own or watch. */
export const errNotDeclared = "ERR_NOT_DECLARED";
/** An object of this name exists and belongs to somebody else. */
export const errNotOwned = "ERR_NOT_OWNED";
/** A write by a process whose lease is over. */
export const errNotLeader = "ERR_NOT_LEADER";
/** The lease could not be renewed in time; the manager has stopped. */
export const errLeaseLost = "ERR_LEASE_LOST";
/** The author's code says that trying again without a change is useless. */
export const errTerminal = "ERR_TERMINAL";
/** The manager or queue has been stopped. */
export const errStopped = "ERR_STOPPED";

/** Thrown by a reconcile when only a change of the objects can help: no retry until then. */
export class TerminalError extends SetpointError {
  override readonly name: string = "TerminalError";

  constructor(message: string, options?: ErrorOptions) {
    super(errTerminal, message, options);
  }
}

export function isTerminalError(error: unknown): error is TerminalError {
  return isSetpointError(error, errTerminal);
}
