import { failure, isApiError, isTooLarge, type ApiRequest } from "@setpoint/apimachinery";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { RetryingSender } from "./retry.ts";

const path = "/apis/example.com/v1/namespaces/default/boxes/a";
const stored = failure(500, "", "etcdserver: request is too large");
const sent = failure(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728");

/** The error of a request that a server refuses with this status, and how often it was sent. */
async function refusalOf(body: unknown, object = stored): Promise<readonly [string, number]> {
  let count = 0;
  const transport = {
    async send() {
      count++;
      return { kind: "object", status: object.code ?? 0, headers: {}, object } as const;
    },
  };
  const request: ApiRequest = { method: "PATCH", path, body };
  const error: unknown = await new RetryingSender(transport, simulatedHost(1))
    .send(request)
    .catch((each: unknown) => each);
  if (!isApiError(error)) throw new Error("no ApiError");
  expect([error.code, isTooLarge(error)]).toEqual([object.code, true]);
  return [error.message, count];
}

const text = (length: number): string => "x".repeat(length);
const head = `Cannot PATCH ${path}: the API server stores at most about 1.5 MiB in an object, and`;

test("the field that has most of an object that is too large is named with its size", async () => {
  const body = {
    metadata: { name: "a" },
    status: { phase: "Ready", pages: { first: text(10), second: text(2_000_000) } },
  };
  expect(await refusalOf(body)).toEqual([
    `${head} "status.pages.second" has 1.9 MiB; keep less there, or keep it elsewhere (etcdserver: request is too large)`,
    1,
  ]);
});

test("of a list, or of many fields of one size, the parent is named", async () => {
  const list = Array.from({ length: 200 }, () => text(10_000));
  expect((await refusalOf({ spec: { list } }))[0]).toContain('"spec.list" has 1.9 MiB');
  const three = { a: text(900_000), b: text(900_000), c: text(900_000) };
  expect((await refusalOf({ spec: three }))[0]).toContain('"spec" has 2.6 MiB');
});

test("a small patch of an object that is too large says how large the patch is", async () => {
  expect((await refusalOf({ a: text(10), b: text(10), c: text(10) }))[0]).toContain("the request has 1 KiB");
});

test("a request beyond the limit of the API server keeps the server's words too", async () => {
  const [message, count] = await refusalOf({ spec: text(4_000_000) }, sent);
  expect(message).toContain(
    '"spec" has 3.8 MiB; keep less there, or keep it elsewhere (Request entity too large: limit',
  );
  expect(count).toBe(1);
});
