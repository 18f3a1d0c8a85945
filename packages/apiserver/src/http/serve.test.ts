import { EventEmitter, once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { request as requestHttps } from "node:https";
import { gunzipSync } from "node:zlib";
import {
  type ApiRequest,
  type ApiResponse,
  ApiError,
  failure,
  type UserInfo,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { createAuthenticator } from "../auth/authenticator.ts";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { type ListeningServer, serve } from "./serve.ts";
import { Warnings } from "../response/warnings.ts";
import { encodeFrame } from "./write-response.ts";

const host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };
const authority = createCertificateAuthority(host);
const serverPair = authority.issueServer({ commonName: "kube-apiserver", hosts: ["localhost", "127.0.0.1"] });
const adminPair = authority.issueClient({ commonName: "admin", organizations: ["system:masters"] });

type Handle = (request: ApiRequest, user: UserInfo, signal: AbortSignal) => Promise<ApiResponse>;

const listening: ListeningServer[] = [];
afterAll(() => Promise.all(listening.map((each) => each.close())));

async function start(handle: Handle): Promise<ListeningServer> {
  const server = await serve(
    { handle, admit() {} },
    {
      host,
      tls: { certificate: serverPair.certificate, key: serverPair.key, clientCa: authority.certificate },
      authenticate: createAuthenticator({ staticTokens: new Map([["t", { username: "tom", groups: [] }]]) }),
      closeMsMax: 500,
    },
  );
  listening.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

interface Question {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly cert?: { readonly certificate: string; readonly key: string };
}

function open(server: ListeningServer, cert?: Question["cert"]): ClientHttp2Session {
  const pair = cert === undefined ? {} : { cert: cert.certificate, key: cert.key };
  return connectHttp2(server.url, { ca: authority.certificate, ...pair });
}

async function ask(server: ListeningServer, question: Question): Promise<Answer> {
  const session = open(server, question.cert);
  const stream = session.request({
    ":method": question.method ?? "GET",
    ":path": question.path ?? "/api",
    ...question.headers,
  });
  stream.end(question.body);
  const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  session.close();
  return { status: Number(headers[":status"]), headers, body: Buffer.concat(chunks) };
}

const object = (value: unknown, status = 200): ApiResponse => ({ kind: "object", status, headers: {}, object: value });
const json = (answer: Answer): unknown => JSON.parse(answer.body.toString("utf8"));

test("a client certificate, a token and nothing at all give three different users", async () => {
  const server = await start(async (_, user) => object(user));
  expect(json(await ask(server, { cert: adminPair }))).toMatchObject({
    username: "admin",
    groups: ["system:masters", "system:authenticated"],
  });
  expect(json(await ask(server, { headers: { authorization: "Bearer t" } }))).toMatchObject({ username: "tom" });
  expect(json(await ask(server, {}))).toMatchObject({ username: "system:anonymous" });
});

test("a wrong token and a certificate of a stranger are 401 with a Status", async () => {
  const server = await start(async () => object({}));
  const stranger = createCertificateAuthority(host).issueClient({ commonName: "admin" });
  for (const question of [{ headers: { authorization: "Bearer wrong" } }, { cert: stranger }]) {
    const answer = await ask(server, question);
    expect(answer.status).toBe(401);
    expect(json(answer)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
  }
});

test("the handler gets path, query and the bytes of the body", async () => {
  const seen: ApiRequest[] = [];
  const server = await start(async (request) => {
    seen.push(request);
    return object({}, 201);
  });
  const headers = { "content-type": "application/json; charset=utf-8" };
  await ask(server, { method: "POST", path: "/api/v1/pods?a=1&a=2&b=x%20y", body: '{"kind":"Pod"}', headers });
  await ask(server, { method: "POST", body: "kind: Pod", headers: { "content-type": "application/yaml" } });
  expect(seen[0]).toMatchObject({ method: "POST", path: "/api/v1/pods", body: Buffer.from('{"kind":"Pod"}') });
  expect({ ...seen[0]?.query }).toEqual({ a: ["1", "2"], b: "x y" });
  expect(seen[1]?.body).toEqual(Buffer.from("kind: Pod"));
});

test("a body beyond 3 MiB is 413", async () => {
  const server = await start(async () => object({}));
  const answer = await ask(server, { method: "POST", body: Buffer.alloc(3 * 1024 * 1024 + 1) });
  expect(answer.status).toBe(413);
  expect(json(answer)).toMatchObject({ message: "Request entity too large: limit is 3145728" });
});

test("what the handler throws is a Status with its code and Retry-After; a bug is a 500", async () => {
  const server = await start(async ({ path }) => {
    if (path === "/bug") throw new TypeError("x is undefined");
    throw new ApiError(failure(429, "TooManyRequests", "later", { retryAfterSeconds: 7 }));
  });
  const busy = await ask(server, {});
  expect([busy.status, busy.headers["retry-after"]]).toEqual([429, "7"]);
  expect(json(await ask(server, { path: "/bug" }))).toMatchObject({
    code: 500,
    message: "Internal error occurred: x is undefined",
  });
});

test("answers carry an Audit-Id, the client's own when it sent one, and are not to be cached", async () => {
  const server = await start(async () => object({}));
  const { headers } = await ask(server, {});
  expect(headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["cache-control"]).toBe("no-cache, private");
  expect((await ask(server, { headers: { "audit-id": "mine" } })).headers["audit-id"]).toBe("mine");
});

test("a long list arrives whole, compressed for clients that accept gzip", async () => {
  const items = Array.from({ length: 1_234 }, (_, i) => ({ name: `pod-${i}`, text: "x".repeat(200) }));
  const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "7" }, items };
  const server = await start(async () => object(list));
  expect(json(await ask(server, {}))).toEqual(list);
  const zipped = await ask(server, { headers: { "accept-encoding": "gzip" } });
  expect(zipped.headers["content-encoding"]).toBe("gzip");
  expect(JSON.parse(gunzipSync(zipped.body).toString("utf8"))).toEqual(list);
});

test("curl gets indented JSON, unless it says otherwise", async () => {
  const server = await start(async () => object({ a: 1 }));
  const headers = { "user-agent": "curl/8" };
  expect((await ask(server, { headers })).body.toString()).toBe('{\n  "a": 1\n}\n');
  expect((await ask(server, { headers, path: "/api?pretty=false" })).body.toString()).toBe('{"a":1}\n');
});

test("HTTP/1.1 is spoken too", async () => {
  const server = await start(async (request, user) => object({ body: String(request.body), user: user.username }));
  const request = requestHttps(`${server.url}/x`, {
    method: "POST",
    ca: authority.certificate,
    cert: adminPair.certificate,
    key: adminPair.key,
    agent: false,
  });
  request.end('{"a":1}');
  const [response] = (await once(request, "response")) as [AsyncIterable<Buffer>];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual({ body: '{"a":1}', user: "admin" });
});

/** A watch whose frames the test sends, and which tells how it ended. */
class Feed extends EventEmitter {
  ended = Promise.withResolvers<unknown>();

  response(signal: AbortSignal): ApiResponse {
    return { kind: "watch", status: 200, headers: {}, frames: this.#frames(signal) };
  }

  async *#frames(signal: AbortSignal): AsyncGenerator<WatchFrame> {
    signal.addEventListener("abort", () => this.ended.resolve(signal.reason));
    try {
      for (;;) {
        const [frame] = (await once(this, "frame", { signal })) as [WatchFrame];
        yield frame;
      }
    } catch {
      return;
    }
  }
}

test("watch frames arrive at once, one line each; a client that leaves aborts the request", async () => {
  const feed = new Feed();
  const server = await start(async (_, __, signal) => feed.response(signal));
  const session = open(server);
  const stream = session.request({ ":path": "/api/v1/pods?watch=1" });
  await once(stream, "response");
  feed.emit("frame", { type: "ADDED", object: { kind: "Pod" } });
  const [chunk] = (await once(stream, "data")) as [Buffer];
  expect(chunk.toString()).toBe('{"type":"ADDED","object":{"kind":"Pod"}}\n');
  session.destroy();
  expect(await feed.ended.promise).toMatchObject({ message: "the client closed the request" });
});

test("closing the server ends watches with a clean end", async () => {
  const feed = new Feed();
  const server = await start(async (_, __, signal) => feed.response(signal));
  const session = open(server);
  const stream = session.request({ ":path": "/api/v1/pods?watch=1" });
  stream.resume();
  await once(stream, "response");
  const ended = once(stream, "end");
  await server.close();
  await ended;
  expect(stream.rstCode).toBe(0);
});

test("a frozen object is encoded once, however many watch it", () => {
  const pod = Object.freeze({ kind: "Pod" });
  expect(encodeFrame({ type: "ADDED", object: pod })).toBe(encodeFrame({ type: "ADDED", object: pod }));
  expect(encodeFrame({ type: "DELETED", object: pod }).toString()).toContain('"DELETED"');
});

test.each(["naïve → 日本 😀", "two\nlines\r\u0000\u0007\u007f"])(
  "a warning whose text no header can hold as it is arrives, over both protocols: %j",
  async (text) => {
    const warnings = new Warnings();
    warnings.add(text);
    const warning = warnings.header() ?? "";
    const server = await start(async () => ({ kind: "object", status: 201, headers: { warning }, object: { a: 1 } }));
    const { status, headers } = await ask(server, { headers: bearer });
    const first = await askOverHttp1(server);
    const shown = [headers["warning"], first.warning].map((each) => Buffer.from(String(each), "latin1").toString());
    const kept = text.startsWith("na") ? text : "two lines    ";
    expect([status, first.status, ...shown]).toEqual([201, 201, ...Array.from({ length: 2 }, () => `299 - "${kept}"`)]);
  },
);

const bearer = { authorization: "Bearer t" };

function askOverHttp1(server: ListeningServer): Promise<{ readonly status: number; readonly warning: unknown }> {
  return new Promise((resolve, reject) => {
    const options = { ca: authority.certificate, headers: bearer, agent: false, ALPNProtocols: ["http/1.1"] };
    const outgoing = requestHttps(`${server.url}/api`, options, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode ?? 0, warning: answer.headers["warning"] });
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}
