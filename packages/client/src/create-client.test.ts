import {
  createKind,
  failure,
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
  const wait = async <T>(promise: Promise<T>): Promise<T> => {
    let isDone = false;
    const watched = promise.finally(() => (isDone = true));
    watched.catch(() => {});
    await host.clock.run(600_000, () => isDone);
    return watched;
  };
  return { client, requests, wait };
}

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
