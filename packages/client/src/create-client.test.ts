import {
  createKind,
  failure,
  SetpointError,
  type ApiRequest,
  type ApiResponse,
  type KubeObject,
  type Transport,
} from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";

const Box = createKind<KubeObject>({
  group: "example.com",
  version: "v1",
  kind: "Box",
  plural: "boxes",
  namespaced: true,
});
const key = { name: "a", namespace: "default" };
const ok: ApiResponse = { kind: "object", status: 200, headers: {}, object: Box(key) };
const refused = (status: number, headers: Record<string, string> = {}): ApiResponse => ({
  kind: "object",
  status,
  headers,
  object: failure(status, status === 429 ? "TooManyRequests" : "ServiceUnavailable", "later"),
});

test("items of a list have the type that the server says once", async () => {
  const item = { metadata: { name: "a" } };
  const list = { kind: "BoxList", apiVersion: "example.com/v1", metadata: {}, items: [item] };
  const { client, wait } = answering({ kind: "object", status: 200, headers: {}, object: list });
  const { items } = await wait(client.list(Box));
  expect(items).toEqual([{ apiVersion: "example.com/v1", kind: "Box", ...item }]);
});

/** A client of a server that gives these answers in turn; an Error is no answer. */
function answering(...answers: readonly (ApiResponse | Error)[]) {
  const host = simulatedHost(1);
  const requests: { readonly atMs: number; readonly request: ApiRequest }[] = [];
  const transport: Transport = {
    async send(request) {
      const answer = answers[Math.min(requests.length, answers.length - 1)] ?? ok;
      requests.push({ atMs: host.clock.monotonic(), request });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const client = createClient(transport, host);
  const wait = <T>(promise: Promise<T>): Promise<T> => host.clock.wait(promise);
  return { client, requests, wait };
}

test("what is applied is not read twice by the server, unless it is asked to", async () => {
  const { client, requests, wait } = answering(ok);
  await wait(client.apply(Box, Box(key), { fieldManager: "me" }));
  await wait(client.applyStatus(Box, Box(key), { fieldManager: "me", fieldValidation: "Strict" }));
  await wait(client.update(Box, Box(key)));
  const asked = requests.map(({ request }) => request.query?.["fieldValidation"]);
  expect(asked).toEqual(["Ignore", "Strict", undefined]);
});

test("a refused write is sent again, not before the server allows it", async () => {
  const { client, requests, wait } = answering(refused(429, { "retry-after": "7" }), ok);
  await wait(client.create(Box, Box(key)));
  expect(requests.length).toBe(2);
  expect(requests[1]?.atMs).toBeGreaterThanOrEqual(7_000);
});

test("a write without an answer is not sent again and says that it may have happened", async () => {
  const { client, requests, wait } = answering(new Error("the connection broke"));
  await expect(wait(client.create(Box, Box(key)))).rejects.toMatchObject({
    code: "ERR_OUTCOME_UNKNOWN",
    message: /may or may not/,
  });
  expect(requests.length).toBe(1);
});

test("a write that never left is sent again", async () => {
  const { client, requests, wait } = answering(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), ok);
  await wait(client.create(Box, Box(key)));
  expect(requests.length).toBe(2);
});

const said = (status: number, message: string): ApiResponse => ({
  kind: "object",
  status,
  headers: {},
  object: failure(status, status === 500 ? "InternalError" : "ServiceUnavailable", message),
});

test.each([
  [500, "etcdserver: request timed out"],
  [500, "Internal error occurred: etcdserver: request timed out, possibly due to previous leader failure"],
  [500, "rpc error: code = Unavailable desc = error reading from server: EOF"],
  [502, "bad gateway"],
  [503, "upstream connect error or disconnect/reset before headers"],
  [504, "Timeout: request did not complete within requested timeout"],
])("a write that is answered %i (%s) may have happened: it is not sent again, and says so", async (status, message) => {
  const { client, requests, wait } = answering(said(status, message));
  await expect(wait(client.create(Box, Box(key)))).rejects.toMatchObject({
    code: "ERR_OUTCOME_UNKNOWN",
    message: expect.stringContaining(`answered ${status} (${message})`),
  });
  expect(requests.length).toBe(1);
});

test.each([
  [500, "Internal error occurred: etcdserver: leader changed"],
  [500, 'Internal error occurred: failed calling webhook "a": Post "https://b": context deadline exceeded'],
  [503, 'admission webhook "a" denied the request: the database is away'],
])("a write that is answered %i (%s) has not happened, and is thrown as it is", async (status, message) => {
  const { client, wait } = answering(said(status, message));
  await expect(wait(client.create(Box, Box(key)))).rejects.toMatchObject({ name: "ApiError", code: status, message });
});

test.each(["ERR_BAD_HEADER", "ERR_NOT_LEADER", "ERR_NOT_OWNER", "ERR_STOPPED", "ERR_TRANSPORT_CLOSED"])(
  "a write that was refused on this side (%s) has not happened, and says why",
  async (code) => {
    const refusal = new SetpointError(code, "Cannot write");
    const { client, requests, wait } = answering(refusal);
    await expect(wait(client.create(Box, Box(key)))).rejects.toBe(refusal);
    expect(requests.length).toBe(1);
  },
);

test("a write whose connection could not be made is sent again", async () => {
  const cause = new SetpointError("ERR_PROXY", "it answered 502");
  const failed = new SetpointError("ERR_CONNECTION_FAILED", "Cannot connect", { cause });
  const { client, requests, wait } = answering(failed, ok);
  await wait(client.create(Box, Box(key)));
  expect(requests.length).toBe(2);
});

test("a write that is aborted under way may have happened, whatever the reason", async () => {
  const stop = new AbortController();
  const reason = new SetpointError("ERR_NOT_OWNER", "the key belongs to another member now");
  const host = simulatedHost(1);
  const client = createClient(
    {
      send: async () => {
        stop.abort(reason);
        throw reason;
      },
    },
    host,
  );
  await expect(client.create(Box, Box(key), { signal: stop.signal })).rejects.toMatchObject({
    code: "ERR_OUTCOME_UNKNOWN",
  });
});

test("a read without an answer is sent again, a limited number of times", async () => {
  const { client, requests, wait } = answering(new Error("the connection broke"));
  await expect(wait(client.get(Box, key))).rejects.toMatchObject({ code: "ERR_NO_ANSWER" });
  expect(requests.length).toBe(5);
});

test("an error answer is thrown with the server's Status", async () => {
  const { client, wait } = answering({
    kind: "object",
    status: 404,
    headers: {},
    object: failure(404, "NotFound", 'boxes "a" not found'),
  });
  await expect(wait(client.get(Box, key))).rejects.toMatchObject({
    code: 404,
    reason: "NotFound",
    message: 'boxes "a" not found',
  });
});

test("names are encoded in paths, and a namespaced object without a namespace goes to default", async () => {
  const { client, requests, wait } = answering(ok);
  await wait(client.get(Box, { name: "a/b", namespace: "n" }));
  await wait(client.create(Box, Box({ name: "a" })));
  expect(requests.map(({ request }) => request.path)).toEqual([
    "/apis/example.com/v1/namespaces/n/boxes/a%2Fb",
    "/apis/example.com/v1/namespaces/default/boxes",
  ]);
});
