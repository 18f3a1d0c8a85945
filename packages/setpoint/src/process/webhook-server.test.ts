import { request as requestHttps } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Clock } from "@setpoint/host";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";
import type { WebhookHandler } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { startWebhookServer, webhookBodyBytesMax, type WebhookServer } from "./webhook-server.ts";

const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom });
const certificate = authority.issueServer({ commonName: "webhooks", hosts: ["127.0.0.1"] });
/** Says what it was given. */
const echo: WebhookHandler = {
  handle: async ({ path, read }) => ({ status: 200, body: { path, body: await read?.() } }),
};

function serve(handler: WebhookHandler = echo, clock: Clock = systemClock): Promise<WebhookServer> {
  return startWebhookServer({ handler, clock, certificate, address: "127.0.0.1", port: 0 });
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
  await using server = await serve({ handle: async () => ({ status: 200, body: { size: 1n } }) });
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
      const error: unknown = await read?.().then(
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
  const server = await serve(echo, clock);
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
