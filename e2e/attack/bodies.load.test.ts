/** Bodies that are not allowed, too large, too slow; and clients that do not read. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountToken } from "./account-token.ts";
import { Target } from "./target.ts";

let target: Target;
beforeAll(async () => {
  target = await Target.start();
});
afterAll(() => target[Symbol.asyncDispose]());

const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const configMaps = "/api/v1/namespaces/default/configmaps";
const mebibyte = 1024 * 1024;

async function dial(withCertificate = false): Promise<TLSSocket> {
  const { ca, cert, key } = target.connection;
  const identity = withCertificate ? { cert, key } : {};
  const socket = connect({ host: "127.0.0.1", port: Number(target.url.port), ca, ...identity });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  return socket;
}

/** The first line that comes, "" when the connection ends without one. */
async function firstLine(socket: TLSSocket): Promise<string> {
  const [chunk] = (await Promise.race([once(socket, "data"), once(socket, "close")]).catch(() => [])) as unknown[];
  return Buffer.isBuffer(chunk) ? (chunk.toString("latin1").split("\r\n")[0] ?? "") : "";
}

function head(method: string, path: string, length: number, token?: string): string {
  const identity = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${identity}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

test.each([
  ["a stranger", undefined, "HTTP/1.1 403 Forbidden"],
  ["a wrong token", "wrong", "HTTP/1.1 401 Unauthorized"],
])("%s is refused before the body has come", async (_, token, line) => {
  const socket = await dial();
  socket.write(head("POST", configMaps, 2 * mebibyte, token));
  expect(await firstLine(socket)).toBe(line);
});

test("an account without the right is refused before the body has come, over HTTP/2 too", async () => {
  const token = await accountToken(target, "rightless");
  const socket = await dial();
  socket.write(head("POST", configMaps, 2 * mebibyte, token));
  expect(await firstLine(socket)).toBe("HTTP/1.1 403 Forbidden");
  const session = connectHttp2(target.url.href, { ca: target.connection.ca ?? "" });
  const stream = session.request({ ":method": "POST", ":path": configMaps, authorization: `Bearer ${token}` });
  stream.on("error", () => undefined);
  const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
  expect(headers[":status"]).toBe(403);
  session.destroy();
});

test("a body that says it is too large is refused before it has come, and one that is sent all the same gets its answer", async () => {
  const socket = await dial(true);
  socket.write(head("POST", configMaps, 4 * mebibyte));
  expect(await firstLine(socket)).toBe("HTTP/1.1 413 Payload Too Large");
  const { status, body } = await target.raw({
    method: "POST",
    path: configMaps,
    body: Buffer.alloc(5 * mebibyte),
    as: "admin",
  });
  expect(status).toBe(413);
  expect(body).toContain("Request entity too large: limit is 3145728");
});

test("the connection of a refused body is good for the next request", async () => {
  const socket = await dial();
  const body = Buffer.alloc(100_000, "x");
  const answers: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => answers.push(chunk));
  for (let i = 0; i < 5; i++) socket.write(Buffer.concat([Buffer.from(head("POST", configMaps, body.length)), body]));
  const count = (): number =>
    Buffer.concat(answers)
      .toString("latin1")
      .match(/HTTP\/1\.1 403/g)?.length ?? 0;
  await expect.poll(count, { timeout: 10_000 }).toBe(5);
  socket.destroy();
});

test("bodies of one account that never end take a bounded part of the memory, and others may write", async () => {
  const token = await accountToken(target, "hoarder");
  await using bystander = target.bystander(20);
  const before = target.residentBytes();
  const part = Buffer.alloc(3 * mebibyte - 1_000, "x");
  const sockets = await Promise.all(Array.from({ length: 60 }, () => dial()));
  const lines: string[] = [];
  for (const socket of sockets) {
    void firstLine(socket).then((line) => lines.push(line));
    socket.write(head("POST", reviews, part.length + 1, token));
    socket.write(part);
  }
  await expect.poll(() => lines.filter((line) => line.includes("429")).length, { timeout: 20_000 }).toBeGreaterThan(40);
  expect(target.residentBytes() - before).toBeLessThan(250 * mebibyte);
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { generateName: "other-" },
    data: { a: "x".repeat(500_000) },
  };
  const headers = { "content-type": "application/json" };
  const { status } = await target.raw({
    method: "POST",
    path: configMaps,
    headers,
    body: JSON.stringify(object),
    as: "admin",
  });
  expect(status).toBe(201);
  expect(bystander.failures).toEqual([]);
  for (const socket of sockets) socket.destroy();
});

/** Writes a byte now and then until the connection ends; says after how many ms. */
async function dribble(socket: TLSSocket, text: string): Promise<number> {
  const startMs = performance.now();
  socket.resume();
  socket.write(text);
  while (!socket.destroyed && performance.now() - startMs < 60_000) {
    socket.write("x");
    await delay(250);
  }
  return performance.now() - startMs;
}

/** Asks for a lot and reads nothing of it; says after how many ms the server gives up. */
async function ignoreAnswers(): Promise<number> {
  const startMs = performance.now();
  const session = connectHttp2(target.url.href, {
    ca: target.connection.ca ?? "",
    cert: target.connection.cert ?? "",
    key: target.connection.key ?? "",
    settings: { initialWindowSize: 0 },
  });
  session.on("error", () => undefined);
  const open = Array.from({ length: 50 }, () => {
    const stream = session.request({ ":path": "/openapi/v2" });
    stream.on("error", () => undefined);
    return once(stream, "close").catch(() => undefined);
  });
  await Promise.race([Promise.all(open), delay(60_000)]);
  session.destroy();
  return performance.now() - startMs;
}

test("clients that are slow on purpose are cut: heads, bodies, silence, answers that nobody reads", async () => {
  const token = await accountToken(target, "slow");
  await using bystander = target.bystander(50);
  const silent = async (): Promise<number> => {
    const startMs = performance.now();
    const socket = await dial();
    socket.resume();
    await Promise.race([once(socket, "close"), delay(60_000)]);
    return performance.now() - startMs;
  };
  const [headMs, bodyMs, silentMs, answerMs] = await Promise.all([
    dial().then((socket) => dribble(socket, "GET / HTTP/1.1\r\nX: ")),
    dial().then((socket) => dribble(socket, head("POST", reviews, mebibyte, token))),
    silent(),
    ignoreAnswers(),
  ]);
  expect(headMs).toBeLessThan(25_000);
  expect(bodyMs).toBeLessThan(50_000);
  expect(silentMs).toBeLessThan(35_000);
  expect(answerMs).toBeLessThan(30_000);
  expect(bystander.failures).toEqual([]);
  expect(bystander.quantile(0.99)).toBeLessThan(1_000);
});
