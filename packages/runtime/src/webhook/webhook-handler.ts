/**
 * Answers the calls of API servers, with limits on time and concurrency and with controller-runtime's
 * metrics.
 */
import { isApiError, messageOf } from "@setpoint/apimachinery";
import type { Clock, Logger, Metrics } from "@setpoint/host";
import type { KindRef } from "@setpoint/client";
import { answerAdmission, NotAReview } from "./answer-admission.ts";
import { answerConversion, isConvertible } from "./answer-conversion.ts";
import type { WebhookDefinition, WebhookRole } from "./webhook-definition.ts";

/** Dependencies of a webhook handler, and the webhooks that it serves. */
export interface WebhookHandlerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly webhooks: readonly WebhookDefinition[];
  /** Kinds with several versions, whose objects it converts; others are ignored. */
  readonly kinds: readonly KindRef[];
  /**
   * How many calls may run at once, each counted from when its body is complete. Others get 429. Default 200.
   */
  readonly concurrentMax?: number;
}

/** One HTTP request of the API server. It has a `body` or a `read`. */
export interface WebhookRequest {
  readonly path: string;
  /** How long the caller waits, from its URL. */
  readonly timeoutSeconds: number | undefined;
  /** The decoded body. */
  readonly body?: unknown;
  /**
   * Reads the body, in place of `body`. Called only when the call may run. An ApiError that it throws is the
   * answer. The signal aborts when the answer would come too late.
   */
  read?(this: void, signal: AbortSignal): Promise<unknown>;
}

/** The HTTP status and the body, which the server writes as JSON. */
export interface WebhookResponse {
  readonly status: number;
  readonly body: unknown;
}

/** Answers the requests of the API server for all webhooks and conversions of a process. */
export interface WebhookHandler {
  /** Resolves with a response for every request; never rejects. */
  handle(request: WebhookRequest): Promise<WebhookResponse>;
}

/** The path of a webhook, as its configuration names it. */
export function webhookPath(role: WebhookRole, { group, plural }: KindRef): string {
  return `/${role}/${group === "" ? "core" : group}/${plural}`;
}

/** The path at which ConversionReviews are answered; CustomResourceDefinitions name it. */
export const conversionPath = "/convert";

const concurrentMaxDefault = 200;
/** The answer has to arrive while the API server still waits for it. */
const timeShare = 0.9;
const timeoutSecondsDefault = 10;

type Answer = (body: unknown, signal: AbortSignal) => Promise<unknown>;

/**
 * Guarantees: it answers each call before the API server stops waiting; calls above `concurrentMax` get 429.
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const { clock, log, concurrentMax = concurrentMaxDefault } = options;
  const answers = answersOf(options);
  const meter = new WebhookMeter(options);
  const places = new Places(concurrentMax);
  return {
    async handle({ path, timeoutSeconds = timeoutSecondsDefault, body, read }) {
      const answer = answers.get(path);
      if (answer === undefined) return refused(404, `Cannot answer "${path}": no webhook is served there`);
      const measured = meter.begin(path);
      const deadline = new Deadline(clock, timeoutSeconds * 1000 * timeShare);
      const response = await answered(path, log, async () => {
        places.check();
        const work = async (): Promise<unknown> => {
          // A client that never sends the rest of its request takes no place meanwhile.
          const asked = read === undefined ? body : await read(deadline.signal);
          // It came after the answer: nobody waits for it.
          deadline.signal.throwIfAborted();
          return places.hold(() => answer(asked, deadline.signal));
        };
        return deadline.race(work());
      });
      deadline.cancel();
      measured(response.status);
      return response;
    },
  };
}

function answersOf({ webhooks, kinds, log }: WebhookHandlerOptions): ReadonlyMap<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const definition of webhooks) {
    for (const role of ["validate", "mutate"] as const) {
      if (definition.operations[role].length === 0) continue;
      const path = webhookPath(role, definition.kind);
      const own = log.with({ webhook: path });
      answers.set(path, (body, signal) => answerAdmission(definition, role, body, { log: own, signal }));
    }
  }
  const convertible = kinds.filter(isConvertible);
  if (convertible.length > 0) answers.set(conversionPath, async (body) => answerConversion(convertible, body));
  return answers;
}

async function answered(path: string, log: Logger, answer: () => Promise<unknown>): Promise<WebhookResponse> {
  try {
    return { status: 200, body: await answer() };
  } catch (error) {
    if (error instanceof NotAReview) return refused(400, error.message);
    // Of the reading: what an author's function throws has become an answer already.
    if (isApiError(error)) return refused(error.code, error.message);
    if (error instanceof NoPlace) return refused(429, `Cannot answer "${path}": ${error.message}`);
    if (error instanceof TooLate) return refused(504, `Cannot answer "${path}": ${error.message}`);
    log.error("Webhook failed", { webhook: path, error });
    const why = messageOf(error);
    return refused(500, `Cannot answer "${path}": ${why}`);
  }
}

function refused(status: number, message: string): WebhookResponse {
  return { status, body: { kind: "Status", apiVersion: "v1", status: "Failure", message, code: status } };
}

class NoPlace extends Error {}

/** Calls whose functions run. */
class Places {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  check(): void {
    if (this.#taken >= this.#max) throw new NoPlace(`${this.#max} calls are under way already`);
  }

  /** A function that ignores its signal continues after its deadline, and still takes its place. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.check();
    this.#taken++;
    try {
      return await work();
    } finally {
      this.#taken--;
    }
  }
}

class TooLate extends Error {}

/** Gives up an answer that comes too late to count; the author's function learns it by its signal. */
class Deadline {
  readonly #abort = new AbortController();
  readonly #late = Promise.withResolvers<never>();
  readonly #timer: { cancel(): void };

  constructor(clock: Clock, timeMs: number) {
    this.#late.promise.catch(() => {});
    this.#timer = clock.setTimer(() => {
      const late = new TooLate(`the function took longer than ${Math.round(timeMs)} ms`);
      this.#abort.abort(late);
      this.#late.reject(late);
    }, timeMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#late.promise]);
  }

  cancel(): void {
    this.#timer.cancel();
  }
}

const latencyBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** controller-runtime's metrics of webhooks. */
class WebhookMeter {
  readonly #clock: Clock;
  readonly #total;
  readonly #latency;
  readonly #inFlight;
  readonly #underWay = new Map<string, number>();

  constructor({ clock, metrics }: WebhookHandlerOptions) {
    this.#clock = clock;
    this.#total = metrics.counter(
      "controller_runtime_webhook_requests_total",
      "Total number of admission requests by HTTP status code.",
    );
    this.#latency = metrics.histogram(
      "controller_runtime_webhook_latency_seconds",
      "Histogram of the latency of processing admission requests",
      latencyBuckets,
    );
    this.#inFlight = metrics.gauge(
      "controller_runtime_webhook_requests_in_flight",
      "Current number of admission requests being served.",
    );
  }

  #change(webhook: string, by: number): void {
    const now = (this.#underWay.get(webhook) ?? 0) + by;
    this.#underWay.set(webhook, now);
    this.#inFlight.set(now, { webhook });
  }

  begin(webhook: string): (code: number) => void {
    const start = this.#clock.monotonic();
    this.#change(webhook, 1);
    return (code) => {
      this.#change(webhook, -1);
      this.#latency.observe((this.#clock.monotonic() - start) / 1000, { webhook });
      this.#total.add(1, { webhook, code: String(code) });
    };
  }
}
