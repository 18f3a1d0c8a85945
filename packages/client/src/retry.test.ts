import {
  failure,
  isApiError,
  isSetpointError,
  type ApiRequest,
  type ApiResponse,
  type RawResponse,
  type Status,
  type Transport,
} from "@setpoint/apimachinery";
import { createMetrics } from "@setpoint/host/system";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { ClientOptions } from "./request-options.ts";
import { RetryingSender } from "./retry.ts";

const read: ApiRequest = { method: "GET", path: "/api/v1/pods" };
const write: ApiRequest = { method: "POST", path: "/api/v1/pods" };
const ok: ApiResponse = { kind: "object", status: 200, headers: {}, object: {} };
type Answer = ApiResponse | Error;

/** A sender to a server that gives these answers in turn, the last of them for ever. */
function sender(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const host = simulatedHost(1);
  const sentMs: number[] = [];
  const transport: Transport = {
    async send() {
      const answer = answers[Math.min(sentMs.length, answers.length - 1)] ?? ok;
      sentMs.push(host.clock.monotonic());
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const sending = new RetryingSender(transport, { ...host, ...options });
  return { host, sentMs, sending, transport };
}

/** What becomes of a request that gets these answers. */
async function fate(request: ApiRequest, answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const { host, sentMs, sending } = sender(answers, options);
  const error = await host.clock.wait(
    sending.send(request).then(
      () => undefined,
      (why: unknown) => why,
    ),
  );
  return { sentMs, error, sent: sentMs.length, code: codeOf(error) };
}

function codeOf(error: unknown): string | number | undefined {
  if (isSetpointError(error)) return error.code;
  return isApiError(error) ? error.code : undefined;
}

function answer(code: number, message = "later", more: Partial<Status> = {}, retryAfter?: string): ApiResponse {
  const object = { ...failure(code, "InternalError", message), ...more };
  return {
    kind: "object",
    status: code,
    headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
    object,
  };
}

const lost = "ERR_OUTCOME_UNKNOWN";
const silentStore = "etcdserver: request timed out";

test.each([
  ["GET", 429, "later", 5, 429],
  ["POST", 429, "later", 5, 429],
  ["GET", 503, "later", 5, 503],
  ["GET", 504, "later", 5, 504],
  ["HEAD", 504, "later", 5, 504],
  ["GET", 500, silentStore, 1, 500],
  ["GET", 502, "bad gateway", 1, 502],
  ["GET", 404, "no", 1, 404],
  ["POST", 404, "no", 1, 404],
  ["POST", 409, "no", 1, 409],
  ["POST", 502, "bad gateway", 1, lost],
  ["POST", 503, "later", 1, lost],
  ["POST", 504, "later", 1, lost],
  ["POST", 500, silentStore, 1, lost],
  ["POST", 500, "no such field", 1, 500],
  ["POST", 409, silentStore, 1, 409],
  ["POST", 503, 'admission webhook "a.b" denied the request: no', 1, 503],
] as const)(
  "a %s that is always answered %i (%s) is sent %i times and ends as %s",
  async (method, code, text, sent, end) => {
    expect(await fate({ method, path: "/api/v1/pods" }, [answer(code, text)])).toMatchObject({ sent, code: end });
  },
);

test.each([
  ["the header", answer(503, "later", {}, "7"), 7_000],
  ["the Status", answer(503, "later", { details: { retryAfterSeconds: 3 } }), 3_000],
  ["the header before the Status", answer(429, "later", { details: { retryAfterSeconds: 3 } }, "7"), 7_000],
  ["the Status where the header says 0", answer(429, "later", { details: { retryAfterSeconds: 3 } }, "0"), 3_000],
  ["nothing, with 429", answer(429), 1_000],
  ["0, with 429", answer(429, "later", {}, "0"), 1_000],
  ["0 in the Status, with 429", answer(429, "later", { details: { retryAfterSeconds: 0 } }), 1_000],
] as const)(
  "a refused write is sent again at the time that %s says, or a little later",
  async (_, refusal, afterMs) => {
    const { sentMs, error } = await fate(write, [refusal, ok]);
    expect(error).toBeUndefined();
    expect(sentMs[0]).toBe(0);
    expect(sentMs[1]).toBeGreaterThanOrEqual(afterMs);
    expect(sentMs[1]).toBeLessThanOrEqual(afterMs * 1.25);
  },
);

test("a read waits for as long as a 503 says too", async () => {
  const { sentMs } = await fate(read, [answer(503, "later", {}, "7"), ok]);
  expect(sentMs[1]).toBeGreaterThanOrEqual(7_000);
});

test("what is to be sent once is not sent again when the server is busy", async () => {
  const { sentMs, sending } = sender([answer(503, "later", {}, "7"), answer(429), ok]);
  await expect(sending.send(write, undefined, true)).rejects.toMatchObject({ code: 503 });
  await expect(sending.send(write, undefined, true)).rejects.toMatchObject({ code: 429 });
  expect(sentMs.length).toBe(2);
});

test("a write that is refused with a time to come back of 0 and 503 may have happened", async () => {
  expect(await fate(write, [answer(503, "later", {}, "0")])).toMatchObject({ sent: 1, code: lost });
});

test("waits double from 100 ms, each with up to a quarter more, and reach at most their limit", async () => {
  const { sentMs } = await fate(read, [new Error("silence")], { attemptsMax: 12, retryDelayMsMax: 3_000 });
  const waits = sentMs.slice(1).map((atMs, i) => atMs - (sentMs[i] ?? 0));
  expect(waits).toHaveLength(11);
  for (const [i, waitMs] of waits.entries()) {
    expect(waitMs).toBeGreaterThanOrEqual(Math.min(100 * 2 ** i, 3_000));
    expect(waitMs).toBeLessThanOrEqual(Math.min(125 * 2 ** i, 3_000));
  }
});

test("without a limit of its own no wait is longer than half a minute", async () => {
  const { sentMs } = await fate(write, [answer(429, "later", {}, "300"), ok]);
  expect(sentMs).toEqual([0, 30_000]);
});

test("an eviction that a disruption budget refuses is an answer, not a refusal for now", async () => {
  const causes = [
    { reason: "Other", message: "" },
    { reason: "DisruptionBudget", message: "" },
  ];
  expect(await fate(write, [answer(429, "budget", { details: { causes } })])).toMatchObject({ sent: 1, code: 429 });
  const other = answer(429, "busy", { details: { causes: causes.slice(0, 1) } });
  expect(await fate(write, [other, ok])).toMatchObject({ sent: 2, error: undefined });
});

test("a connection that was never made is found wherever it stands in the causes", async () => {
  const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
  const error = new Error("outer", { cause: new Error("inner", { cause: refused }) });
  expect(await fate(write, [error, error, ok])).toMatchObject({ sent: 3, error: undefined });
  expect(await fate(write, [error])).toMatchObject({ sent: 5, code: "ERR_NO_ANSWER" });
  const reset = Object.assign(new Error("no"), { code: "ECONNRESET", cause: { code: 7 } });
  expect(await fate(write, [reset])).toMatchObject({ sent: 1, code: lost });
});

test("the error of a request without an answer names it", async () => {
  const { error } = await fate(read, [new Error("silence")], { attemptsMax: 1 });
  expect(error).toMatchObject({
    message: "Cannot GET /api/v1/pods: the server did not answer",
    cause: { message: "silence" },
  });
  expect((await fate(write, [new Error("silence")])).error).toMatchObject({
    message: expect.stringContaining("POST /api/v1/pods"),
  });
});

test("a signal that is aborted already sends nothing, and one that aborts ends the wait with its reason", async () => {
  const { host, sentMs, sending } = sender([answer(429)]);
  await expect(sending.send(read, AbortSignal.abort("gone"))).rejects.toBe("gone");
  expect(sentMs).toEqual([]);
  const controller = new AbortController();
  const waiting = expect(sending.send(read, controller.signal)).rejects.toBe("enough");
  await host.clock.run(10);
  controller.abort("enough");
  await waiting;
  expect(sentMs).toEqual([0]);
});

test.each([1, 5])(
  "a read that is aborted under way in %i attempts ends with the reason, although its connection broke of it",
  async (attemptsMax) => {
    const { host } = sender([]);
    const aborter = new AbortController();
    const transport: Transport = {
      async send() {
        aborter.abort("enough");
        throw new Error("socket closed");
      },
    };
    const sending = new RetryingSender(transport, { ...host, attemptsMax });
    await expect(sending.send(read, aborter.signal)).rejects.toBe("enough");
  },
);

test("a foreign error page is read whole, wherever its characters are cut", async () => {
  const [first, ...rest] = new TextEncoder().encode("ä!");
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Uint8Array.of(first ?? 0);
    yield Uint8Array.from(rest);
  }
  const page: ApiResponse = { kind: "bytes", status: 404, headers: {}, bytes: bytes() };
  expect((await fate(read, [page])).error).toMatchObject({ status: { message: "ä!" } });
});

test("an error that only looks like a refusal on this side is one only of a write", async () => {
  const notLeader = Object.assign(new Error("no"), { code: "ERR_NOT_LEADER" });
  expect(await fate(write, [notLeader])).toMatchObject({ sent: 1, code: lost });
  expect((await fate(read, [notLeader])).sent).toBe(5);
});

test("requests that are sent again are counted by what was wrong, the last failure is not", async () => {
  const metrics = createMetrics();
  await fate(read, [answer(503), new Error("silence"), answer(503), ok], { metrics });
  const retries = (): readonly string[] => metrics.expose().match(/^rest_client_request_retries_total.*$/gm) ?? [];
  const counted = [
    'rest_client_request_retries_total{code="503",verb="GET"} 2',
    'rest_client_request_retries_total{code="<error>",verb="GET"} 1',
  ];
  expect(retries()).toEqual(counted);
  await fate(read, [answer(503)], { metrics, attemptsMax: 1 });
  expect(retries()).toEqual(counted);
});

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

test("a foreign error page becomes the message, cut to a length", async () => {
  const page = (...texts: readonly string[]): ApiResponse => ({
    kind: "bytes",
    status: 404,
    headers: {},
    bytes: chunks(...texts),
  });
  expect((await fate(read, [page(" not ", "here\n")])).error).toMatchObject({
    code: 404,
    status: { message: "not here" },
  });
  expect((await fate(read, [page()])).error).toMatchObject({
    status: { message: "the server answered with status 404" },
  });
  const { error } = await fate(read, [page("x".repeat(2_048), "x", "never read")]);
  expect(error).toMatchObject({ status: { message: "x".repeat(2_048) } });
});

test("a watch that is answered with an error is given up, and its connection with it", async () => {
  let isReturned = false;
  async function* frames(): AsyncGenerator<never> {
    try {
      yield* [] as never[];
    } finally {
      isReturned = true;
    }
  }
  const refusal: ApiResponse = { kind: "watch", status: 403, headers: {}, frames: frames() };
  expect((await fate(read, [refusal])).error).toMatchObject({ code: 403, reason: "Forbidden" });
  expect(isReturned).toBe(true);
});

test("an object that is no Status is not taken for the reason", async () => {
  const odd: ApiResponse = { kind: "object", status: 410, headers: {}, object: { message: "hello" } };
  expect((await fate(read, [odd])).error).toMatchObject({ code: 410, reason: "Gone" });
});

test("a Status without a code has that of the answer", async () => {
  const { code: _, ...status } = failure(404, "NotFound", "no");
  const bare: ApiResponse = { kind: "object", status: 404, headers: {}, object: status };
  expect((await fate(read, [bare])).error).toMatchObject({ code: 404 });
});

test.each([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [409, "Conflict"],
  [410, "Gone"],
  [422, "BadRequest"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
])("an answer %i without a Status has the reason %s", async (status, reason) => {
  const bare: ApiResponse = { kind: "bytes", status, headers: {}, bytes: chunks() };
  expect((await fate(read, [bare], { attemptsMax: 1 })).error).toMatchObject({ code: status, reason });
});

test("answers that stay bytes are asked for where the transport offers them, else as usual", async () => {
  const { host, sending, sentMs } = sender([ok]);
  expect(await sending.sendRaw(read)).toBe(ok);
  expect(sentMs).toEqual([0]);
  const raw: RawResponse = { kind: "bytes", status: 200, headers: {}, bytes: chunks() };
  const transport: Transport = { send: async () => ok, sendRaw: async () => raw };
  expect(await new RetryingSender(transport, host).sendRaw(read)).toBe(raw);
});
