/** Decides which requests may be sent again, and when. */
import {
  failure,
  isApiError,
  isSetpointError,
  isStatus,
  isTooLarge,
  SetpointError,
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type RawResponse,
  type Status,
  type Transport,
} from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { errNoAnswer, outcomeUnknown } from "./errors.ts";
import { escalationError, isEscalation } from "./rbac-escalation.ts";
import { tooLargeError } from "./too-large.ts";
import { listsUncheckedRules, withoutUncheckedRules } from "./unchecked-rules.ts";
import { RequestMetrics } from "./request-metrics.ts";
import type { ClientOptions } from "./request-options.ts";

const attemptsMaxDefault = 5;
const retryDelayMsMaxDefault = 30_000;
/** The wait after 429 without Retry-After. */
const retryAfterMsDefault = 1_000;
const backoffMsFirst = 100;

/** Errors of a connection that was never made, so nothing was sent over it. */
const notSentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_CONNECTION_FAILED",
  "ERR_PROXY",
  "ERR_KUBECONFIG",
]);

/** Refusals on the client side, before a write was sent: they are final. */
const refusedHereCodes: readonly string[] = [
  "ERR_BAD_HEADER",
  "ERR_NOT_LEADER",
  "ERR_NOT_OWNER",
  "ERR_STOPPED",
  "ERR_TRANSPORT_CLOSED",
];

/** A write that a webhook refuses did not happen, whatever its code. */
const webhookRefusal = /^admission webhook "[^"]*" denied the request/;
/**
 * The store has not answered the API server in time, so the write may have happened. Other errors of the
 * store (no leader, no space) come before the write, and an error in the middle of a text has another source
 * (a webhook that was not reached).
 */
const storeSilence =
  /^(?:Internal error occurred: )?(?:etcdserver: (?:request timed out|request cancelled|server stopped)|rpc error: code = (?:Unavailable|DeadlineExceeded|Canceled|Unknown)\b|context (?:deadline exceeded|canceled)$)/;

/** Sends requests, and retries them while that is safe and may help. */
export class RetryingSender {
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #attemptsMax: number;
  readonly #metrics: RequestMetrics;

  constructor(transport: Transport, options: ClientOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#metrics = new RequestMetrics(options.metrics, options.clock);
    this.#attemptsMax = options.attemptsMax ?? attemptsMaxDefault;
  }

  /**
   * Resolves with a success; throws ApiError, `ERR_OUTCOME_UNKNOWN`, `ERR_NO_ANSWER` or the signal's reason.
   */
  send(request: ApiRequest, signal?: AbortSignal, once = false): Promise<ApiResponse> {
    const attemptsMax = once ? 1 : this.#attemptsMax;
    return this.#sendUntilAnswered((signal) => this.#transport.send(request, signal), request, signal, attemptsMax);
  }

  /** The same for answers whose objects stay bytes; the transport must offer them. */
  sendRaw(request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> {
    const transport = this.#transport;
    return this.#sendUntilAnswered(
      (signal) => transport.sendRaw?.(request, signal) ?? transport.send(request, signal),
      request,
      signal,
    );
  }

  async #sendUntilAnswered<R extends RawResponse>(
    send: Send<R>,
    request: ApiRequest,
    signal?: AbortSignal,
    attemptsMax = this.#attemptsMax,
  ): Promise<R> {
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const startedMs = this.#options.clock.monotonic();
      let response: R | undefined;
      let failed: Failed;
      try {
        response = await send(signal);
        this.#metrics.ended(request, response.status, startedMs);
        if (response.status < 400) return response;
        failed = judgeAnswer(request, response, await statusOf(response));
      } catch (error) {
        if (response === undefined) this.#metrics.ended(request, "<error>", startedMs);
        failed = judgeNoAnswer(request, error, signal);
      }
      if (!failed.mayRepeat || attempt >= attemptsMax) throw failed.error;
      await sleep(this.#options.clock, this.#delayMs(failed.retryAfterMs, attempt), signal);
      this.#metrics.repeated(request, isApiError(failed.error) ? String(failed.error.code) : "<error>");
    }
  }

  #delayMs(retryAfterMs: number | undefined, attempt: number): number {
    const baseMs = retryAfterMs ?? backoffMsFirst * 2 ** (attempt - 1);
    // Jitter only adds: a server's Retry-After is the earliest time that it allows.
    const delayMs = baseMs * (1 + this.#options.random.next() / 4);
    return Math.min(delayMs, this.#options.retryDelayMsMax ?? retryDelayMsMaxDefault);
  }
}

type Send<R> = (signal: AbortSignal | undefined) => Promise<R>;

/** A request that has not succeeded. */
interface Failed {
  readonly error: unknown;
  readonly mayRepeat: boolean;
  readonly retryAfterMs?: number;
}

/** The answer in words that help, where the server's own do not. */
function explained(request: ApiRequest, answered: ApiError): ApiError {
  if (isTooLarge(answered)) return tooLargeError(request, answered);
  if (isEscalation(answered)) return escalationError(request, answered);
  return listsUncheckedRules(answered) ? withoutUncheckedRules(answered) : answered;
}

/** 429 is a refusal before anything happened; so is 503 with a time to come back. */
function judgeAnswer(request: ApiRequest, response: RawResponse, status: Status): Failed {
  const answered = new ApiError(status);
  const error = explained(request, answered);
  const retryAfterMs = retryAfterOf(response, status);
  if (response.status === 429) {
    // An eviction that a disruption budget refuses is a 429 too, and final.
    const isBudget = status.details?.causes?.some((cause) => cause.reason === "DisruptionBudget") ?? false;
    return { error, mayRepeat: !isBudget, retryAfterMs: retryAfterMs ?? retryAfterMsDefault };
  }
  const isAway = response.status === 503 || response.status === 504;
  if (isAway && isRead(request))
    return { error, mayRepeat: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (response.status === 503 && retryAfterMs !== undefined) return { error, mayRepeat: true, retryAfterMs };
  if (!isRead(request) && mayHaveHappened(response.status, status))
    return { error: outcomeUnknown(nameOf(request), error), mayRepeat: false };
  return { error, mayRepeat: false };
}

/**
 * Whether a write with this answer may have happened: a proxy lost the server, or the server lost its store.
 */
function mayHaveHappened(code: number, { message = "" }: Status): boolean {
  if (webhookRefusal.test(message)) return false;
  return code === 502 || code === 503 || code === 504 || (code === 500 && storeSilence.test(message));
}

function judgeNoAnswer(request: ApiRequest, error: unknown, signal: AbortSignal | undefined): Failed {
  // The reason of an abort does not show how far the request got.
  const isReason = signal?.aborted === true && error === signal.reason;
  if (!isReason && wasNotSent(error)) return { error: noAnswer(request, error), mayRepeat: true };
  if (!isReason && !isRead(request) && wasRefusedHere(error)) return { error, mayRepeat: false };
  if (!isRead(request)) return { error: outcomeUnknown(nameOf(request), error), mayRepeat: false };
  if (signal?.aborted) return { error: signal.reason, mayRepeat: false };
  return { error: noAnswer(request, error), mayRepeat: true };
}

function isRead(request: ApiRequest): boolean {
  return request.method === "GET" || request.method === "HEAD";
}

function nameOf(request: ApiRequest): string {
  return `${request.method} ${request.path}`;
}

function noAnswer(request: ApiRequest, cause: unknown): SetpointError {
  return new SetpointError(errNoAnswer, `Cannot ${nameOf(request)}: the server did not answer`, { cause });
}

function wasNotSent(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return (typeof code === "string" && notSentCodes.has(code)) || wasNotSent(cause);
}

function wasRefusedHere(error: unknown): boolean {
  return isSetpointError(error) && refusedHereCodes.includes(error.code);
}

function retryAfterOf(response: RawResponse, status: Status): number | undefined {
  const header = Number(response.headers["retry-after"]);
  const seconds = header > 0 ? header : status.details?.retryAfterSeconds;
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1_000;
}

/** The Status of an error answer, or one built from an answer without (a proxy's page). */
async function statusOf(response: RawResponse): Promise<Status> {
  if (response.kind === "object" && isStatus(response.object))
    return { ...response.object, code: response.object.code ?? response.status };
  if (response.kind === "watch") for await (const _ of response.frames) break;
  const text = response.kind === "bytes" ? await textOf(response.bytes) : "";
  return failure(
    response.status,
    reasonOf(response.status),
    text === "" ? `the server answered with status ${response.status}` : text,
  );
}

/** Longest foreign error page that is kept as a message. */
const messageLengthMax = 2_048;

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > messageLengthMax) break;
  }
  return text.slice(0, messageLengthMax).trim();
}

function reasonOf(code: number): Status["reason"] & string {
  switch (code) {
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return code >= 500 ? "InternalError" : "BadRequest";
  }
}
