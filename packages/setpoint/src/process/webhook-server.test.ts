import { request as requestHttps } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Clock } from "@setpoint/host";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";
import type { WebhookHandler } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { webhookBodyBytesMax } from "./webhook-body.ts";
import { startWebhookServer, type WebhookServer } from "./webhook-server.ts";

const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom });
const certificate = authority.issueServer({ commonName: "webhooks", hosts: ["127.0.0.1"] });
const never = new AbortController().signal;
/** Says what it was given. */
const echo: WebhookHandler = {
  handle: async ({ path, read }) => ({ status: 200, body: { path, body: await read?.(never) } }),
};

function serve(
  handler: WebhookHandler = echo,
  { clock = systemClock, ...limits }: { readonly clock?: Clock; readonly connectionsMax?: number } = {},
): Promise<WebhookServer> {
  return startWebhookServer({ handler, clock, certificate, address: "127.0.0.1", port: 0, ...limits });
}

function post(port: number, path: string, body: string, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: "POST", headers, rejectUnauthorized: false, agent: false };
    const outgoing = requestHttps(options, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      incoming.on("end", () => resolve(`${incoming.statusCode} ${text}`));
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

async function open(port: number, sent: string): Promise<TLSSocket> {
  const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false });
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.once("secureConnect", () => resolve()));
  socket.write(sent);
  return socket;
}

async function answerTo(port: number, sent: string): Promise<string> {
  const socket = await open(port, sent);
  const chunk = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  socket.destroy();
  return chunk.toString().split("\r\n")[0] ?? "";
}

test("a request whose path is none is refused, and the process goes on", async () => {
  await using server = await serve();
  const line = await answerTo(server.port, "POST // HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n");
  expect(line).toBe("HTTP/1.1 400 Bad Request");
  expect(await post(server.port, "/here", "{}")).toBe('200 {"path":"/here","body":{}}');
});

test("an answer that JSON does not have is a 500, and the process goes on", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  await using server = await serve({ handle: async () => ({ status: 200, body: circle }) });
  expect(await post(server.port, "/here", "{}")).toMatch(/^500 .*its answer cannot be sent/);
});

test("the body of a call that is refused for its path or its number is not read", async () => {
  await using server = await serve({ handle: async () => ({ status: 429, body: {} }) });
  // Nothing of the body is sent: an answer comes all the same.
  const line = await answerTo(server.port, "POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n");
  expect(line).toBe("HTTP/1.1 429 Too Many Requests");
});

test("a body that is too large, or no JSON, is refused in a sentence", async () => {
  await using server = await serve({
    async handle({ read }) {
      const error: unknown = await read?.(never).then(
        () => undefined,
        (error: unknown) => error,
      );
      return { status: 200, body: error instanceof Error ? error.message : "read" };
    },
  });
  expect(await post(server.port, "/a", "{")).toBe('200 "Cannot answer the request: its body is not JSON"');
  const head = `POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: ${webhookBodyBytesMax + 1}\r\n\r\n`;
  expect(await answerTo(server.port, head)).toBe("HTTP/1.1 413 Payload Too Large");
});

test("requests that are never sent to their end do not hold up the end of the server", async () => {
  const timers: (() => void)[] = [];
  const clock: Clock = { ...systemClock, setTimer: (callback) => (timers.push(callback), { cancel() {} }) };
  const server = await serve(echo, { clock });
  const half = await open(server.port, "POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
  const silent = connectTcp(server.port, "127.0.0.1");
  silent.on("error", () => undefined);
  await new Promise<void>((resolve) => silent.once("connect", () => resolve()));
  // By now the server has taken both.
  expect(await post(server.port, "/a", "{}")).toMatch(/^200 /);
  const closed = server[Symbol.asyncDispose]();
  for (const end of timers) end();
  await closed;
  half.destroy();
  silent.destroy();
});

const halfSent = "POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{";

test("connections whose requests never come to their end make way for others", async () => {
  await using server = await serve(echo, { connectionsMax: 4 });
  const held = await Promise.all(Array.from({ length: 4 }, () => open(server.port, halfSent)));
  const closed = held.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
  expect(await post(server.port, "/a", "{}")).toMatch(/^200 /);
  await Promise.race(closed);
  for (const socket of held) socket.destroy();
});

test("a connection whose call is under way is not closed for others", async () => {
  const release = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const handler: WebhookHandler = {
    async handle({ path, read }) {
      await read?.(never);
      begun.resolve();
      await release.promise;
      return { status: 200, body: path };
    },
  };
  await using server = await serve(handler, { connectionsMax: 1 });
  const first = post(server.port, "/a", "{}");
  await begun.promise;
  await expect(post(server.port, "/b", "{}")).rejects.toThrow();
  release.resolve();
  expect(await first).toBe('200 "/a"');
});

test("a body that does not come in time is refused, and its connection is closed", async () => {
  await using server = await serve({
    async handle({ read }) {
      const error: unknown = await read?.(AbortSignal.timeout(20)).catch((each: unknown) => each);
      return { status: 504, body: error instanceof Error ? error.message : "read" };
    },
  });
  const socket = await open(server.port, halfSent);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  await new Promise((resolve) => socket.once("close", resolve));
  expect(answer).toContain("Cannot answer the request: it came too late");
});
