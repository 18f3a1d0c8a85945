/** Setpoint's own errors: `SetpointError` for errors that a caller may handle, `assert` for bugs. */

const setpointErrorBrand = "setpoint.dev/SetpointError";

/** An error with a stable `code` (`ERR_QUEUE_CLOSED`), by which callers recognise it. */
export class SetpointError extends Error {
  override readonly name: string = "SetpointError";
  readonly code: string;
  readonly brand: string = setpointErrorBrand;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Whether a value is a SetpointError, with this code if one is given. It reads a brand, so it also recognises
 * errors of another copy of this package.
 */
export function isSetpointError(error: unknown, code?: string): error is SetpointError {
  if (typeof error !== "object" || error === null) return false;
  if ((error as { brand?: unknown }).brand !== setpointErrorBrand) return false;
  return code === undefined || (error as SetpointError).code === code;
}

/** The message of a thrown value: that of an error, otherwise the value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Throws when `condition` does not hold: an invariant of the program is broken and going on would do damage.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new SetpointError("ERR_ASSERTION", `Broken invariant: ${message}`);
}
