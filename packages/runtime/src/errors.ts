/** The errors of this package; see the README for what a caller does about each. */
import { isSetpointError, SetpointError } from "@setpoint/apimachinery";

/** A kind that the controller does not reconcile, own or watch. */
export const errNotDeclared = "ERR_NOT_DECLARED";
/** A list of a namespaced kind names no namespace, and not all of them either. */
export const errNamespaceMissing = "ERR_NAMESPACE_MISSING";
/** An object of this name exists and belongs to another owner. */
export const errNotOwned = "ERR_NOT_OWNED";
/** A write by a process whose lease is over. */
export const errNotLeader = "ERR_NOT_LEADER";
/** The lease could not be renewed in time; the manager has stopped. */
export const errLeaseLost = "ERR_LEASE_LOST";
/** A write by a run whose key belongs to another member of the group now. */
export const errNotOwner = "ERR_NOT_OWNER";
/**
 * Options of a manager contradict each other, or a cache's `transform` removes a field that the cache needs.
 */
export const errManagerOptions = "ERR_MANAGER_OPTIONS";
/** A cluster of this name exists already, or the manager has no cluster of the given name. */
export const errCluster = "ERR_CLUSTER";
/** The author's code says that a retry without a change is useless. */
export const errTerminal = "ERR_TERMINAL";
/** The conditions of a kind were declared or used against their declaration. */
export const errConditions = "ERR_CONDITIONS";
/** An effect or a step cannot be recorded, or another process has continued it. */
export const errLedger = "ERR_LEDGER";
/** A run ends early because a step in it waits. */
export const errSuspended = "ERR_SUSPENDED";
/** A call on the context failed, and the author's code neither awaited it nor handled its error. */
export const errNotAwaited = "ERR_NOT_AWAITED";
/** The author's code sets the delay of the retry. */
export const errTemporary = "ERR_TEMPORARY";
/** A requeue delay is NaN. */
export const errDelayInvalid = "ERR_DELAY_INVALID";
/** A controller is declared against the rules, or two have the same name. */
export const errControllerInvalid = "ERR_CONTROLLER_INVALID";
/** A cron line cannot be read, or never fires. */
export const errCronInvalid = "ERR_CRON_INVALID";
/** A reconcile took longer than its controller allows. */
export const errReconcileTimeout = "ERR_RECONCILE_TIMEOUT";
/** A controller has changed or deleted more than its limits allow for now. */
export const errWriteBudget = "ERR_WRITE_BUDGET";
/** The author's code has changed an object of the cache. */
export const errCacheChanged = "ERR_CACHE_CHANGED";
/** All Secrets of a cluster would be cached, which the manager's options refuse. */
export const errSecretsUnbounded = "ERR_SECRETS_UNBOUNDED";
/** The manager or queue has been stopped. */
export const errStopped = "ERR_STOPPED";

/** Ten years in milliseconds. A longer delay means never, and its end would exceed the range of a Date. */
export const delayMsMax = 315_360_000_000;

/** Thrown by a reconcile when only a change of the objects can help: no retry until then. */
export class TerminalError extends SetpointError {
  override readonly name: string = "TerminalError";

  constructor(message: string, options?: ErrorOptions) {
    super(errTerminal, message, options);
  }
}

/** Whether the error is a `TerminalError`, also one of another copy of this package. */
export function isTerminalError(error: unknown): error is TerminalError {
  return isSetpointError(error, errTerminal);
}

/**
 * Thrown by a reconcile or a daemon that sets its own retry delay, in milliseconds. It overrides the
 * back-off.
 */
export class TemporaryError extends SetpointError {
  override readonly name: string = "TemporaryError";
  readonly delayMs: number;

  constructor(message: string, delayMs: number, options?: ErrorOptions & { readonly code?: string }) {
    super(options?.code ?? errTemporary, message, options);
    this.delayMs = delayMs;
  }
}

/** Whether the error carries its own retry delay: a `TemporaryError` or an exhausted write budget. */
export function isTemporaryError(error: unknown): error is TemporaryError {
  return isSetpointError(error, errTemporary) || isSetpointError(error, errWriteBudget);
}

/**
 * The retry delay that the author's code asks for, in milliseconds. Of several errors the shortest, if all
 * have one. NaN counts as none.
 */
export function temporaryDelayMsOf(error: unknown): number | undefined {
  if (isTemporaryError(error)) return Number.isNaN(error.delayMs) ? undefined : Math.min(error.delayMs, delayMsMax);
  if (!(error instanceof AggregateError)) return undefined;
  const delays = error.errors.map(temporaryDelayMsOf).filter((each) => each !== undefined);
  return delays.length > 0 && delays.length === error.errors.length ? Math.min(...delays) : undefined;
}

/** What engines say when a frozen object is changed. */
const frozenPattern = /read only property|object is not extensible|Cannot delete property/u;

const copyAdvice = "copy what you change: `{ ...object, spec: { ...object.spec, size: 3 } }`";

function isOfFrozen(error: unknown): error is TypeError {
  return error instanceof TypeError && frozenPattern.test(error.message);
}

/**
 * The error in words that help, when it comes from an attempt to change the object that a webhook is asked
 * about.
 */
export function explainedToWebhook(error: unknown): unknown {
  if (!isOfFrozen(error)) return error;
  const message = `Cannot change the object of a request: it is frozen; return a changed copy from \`mutate\`; ${copyAdvice}`;
  return new TypeError(message, { cause: error });
}

/** The error in words that help, when it comes from an attempt to change an object of the cache. */
export function explained(error: unknown): unknown {
  if (!isOfFrozen(error)) return error;
  const message = `Cannot change an object of the cache: all readers share it, so it is frozen; ${copyAdvice}`;
  return new SetpointError(errCacheChanged, message, { cause: error });
}
