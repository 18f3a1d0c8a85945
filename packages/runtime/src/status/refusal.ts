/** Which refusals of a run are the user's to see, and which of them only a change can end. */
import {
  isApiError,
  isForbidden,
  isInvalid,
  isSetpointError,
  isTooLarge,
  type ApiError,
  messageOf,
} from "@setpoint/apimachinery";
import { errNotOwned, errWriteBudget, isTerminalError } from "../errors.ts";
import { isOtherUid } from "../writes/other-uid.ts";
import { minutes } from "../controller/result.ts";

/** Why an object cannot be brought to what its spec says, as a condition has it. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /**
   * `change`: only a change of an object can help; `look`: the run is repeated now and then; `retry`: the run
   * is tried again, ever more slowly.
   */
  readonly until: "change" | "look" | "retry";
}

export const refusalReasons = [
  "NotOwned",
  "NamespaceTerminating",
  "ImmutableField",
  "Rejected",
  "QuotaExceeded",
  "TooLarge",
  "Forbidden",
  "Terminal",
  "WriteBudget",
] as const;

/** A reason of the condition `Stalled`: a failure that retries alone do not fix. */
export type RefusalReason = (typeof refusalReasons)[number];

/**
 * How often to look whether an object that another owner holds is deleted, or a policy is changed: no event
 * of it wakes the key.
 */
export const lookAgainMs: number = minutes(1);

/** `isWrite` says whether an answer of the server is one to what the run wanted to write. */
export function refusalOf(error: unknown, isWrite: (error: object) => boolean): Refusal | undefined {
  if (error instanceof AggregateError) return worst(error, isWrite);
  const message = messageOf(error);
  if (isTerminalError(error)) return { reason: "Terminal", message, until: "change" };
  if (isSetpointError(error, errNotOwned)) return { reason: "NotOwned", message, until: "look" };
  if (isSetpointError(error, errWriteBudget)) return { reason: "WriteBudget", message, until: "retry" };
  // A status as well as a child: sent again, either is refused again.
  if (isTooLarge(error)) return { reason: "TooLarge", message, until: "change" };
  if (!isApiError(error) || !isWrite(error) || isOtherUid(error)) return undefined;
  if (isNamespaceTerminating(error)) return { reason: "NamespaceTerminating", message, until: "change" };
  if (isInvalid(error) && isByPolicy(message)) return { reason: "Rejected", message, until: "look" };
  if (isInvalid(error)) return { reason: isImmutable(error) ? "ImmutableField" : "Rejected", message, until: "change" };
  if (!isForbidden(error)) return undefined;
  return { reason: message.includes("exceeded quota") ? "QuotaExceeded" : "Forbidden", message, until: "retry" };
}

/** An admission policy or a webhook: no event of the key's objects tells when it changes its mind. */
function isByPolicy(message: string): boolean {
  return /\bdenied (the )?request\b/.test(message);
}

/** Several: tried again as soon as any of them may be. */
function worst(error: AggregateError, isWrite: (error: object) => boolean): Refusal | undefined {
  const refusals = error.errors.map((each: unknown) => refusalOf(each, isWrite));
  const known = refusals.filter((each) => each !== undefined);
  if (known.length < refusals.length) return undefined;
  const order: readonly Refusal["until"][] = ["retry", "look", "change"];
  const [first] = known.toSorted((a, b) => order.indexOf(a.until) - order.indexOf(b.until));
  return first === undefined ? undefined : { ...first, message: error.message };
}

function isNamespaceTerminating(error: ApiError): boolean {
  const causes = error.status.details?.causes ?? [];
  return isForbidden(error) && causes.some(({ reason }) => reason === "NamespaceTerminating");
}

function isImmutable(error: ApiError): boolean {
  return error.message.includes("immutable") || error.message.includes("may not be changed");
}
