/** What one user, or a stranger, can take from others by asking a lot. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountToken } from "./account-token.ts";
import { type Bystander, Target } from "./target.ts";

let target: Target;
beforeAll(async () => {
  target = await Target.start();
});
afterAll(() => target[Symbol.asyncDispose]());

const floodMs = 2_000;
const streams = 200;

async function session(): Promise<ClientHttp2Session> {
  const opened = connectHttp2(target.url.href, { ca: target.connection.ca ?? "" });
  opened.on("error", () => undefined);
  await once(opened, "connect");
  return opened;
}

/** Asks on all streams of a session until the time is over; says how often each status came. */
async function flood(path: (i: number) => string, token?: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const opened = await session();
  const endMs = performance.now() + floodMs;
  let i = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < endMs && !opened.destroyed) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const stream = opened.request({ ":path": path(i++), ...headers });
      stream.on("error", () => undefined);
      stream.resume();
      stream.once("response", (answer) => {
        const status = Number(answer[":status"]);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      });
      await once(stream, "close").catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: streams }, worker));
  opened.destroy();
  return counts;
}

/** A client that is no administrator. */
async function readAs(token: string): Promise<{ readonly status: number; readonly ms: number }> {
  const startMs = performance.now();
  const { status } = await target.raw({ path: "/api", as: token, timeoutMs: 30_000 });
  return { status, ms: performance.now() - startMs };
}

/** What others wait for while something else goes on, the machine shared with the flood's own client. */
async function expectServed(bystander: Bystander): Promise<void> {
  await expect.poll(() => bystander.latenciesMs.length, { timeout: 10_000 }).toBeGreaterThan(5);
  expect(bystander.failures).toEqual([]);
  expect(bystander.quantile(0.99)).toBeLessThan(1_500);
  expect(target.isRunning).toBe(true);
}

test("a stranger's flood over many namespaces leaves no memory behind, and others are served", async () => {
  await flood((i) => `/api/v1/namespaces/warm-${i}/secrets`);
  const before = target.residentBytes();
  await using bystander = target.bystander(20);
  const counts = await Promise.all([
    flood((i) => `/api/v1/namespaces/${"x".repeat(2_000)}${i}/secrets`),
    flood((i) => `/api/v1/namespaces/${"y".repeat(2_000)}${i}/secrets`),
  ]);
  await expectServed(bystander);
  for (const each of counts) expect([...each.keys()].every((status) => status === 403 || status === 429)).toBe(true);
  expect(target.residentBytes() - before).toBeLessThan(150 * 1024 * 1024);
});

test("one account's flood is not felt as refusals by another account", async () => {
  const attacker = await accountToken(target, "attacker");
  const other = await accountToken(target, "other");
  await using bystander = target.bystander(20);
  const flooding = Promise.all(
    [1, 2, 3].map(() => flood(() => "/apis/apps/v1/namespaces/default/deployments", attacker)),
  );
  const answers: Awaited<ReturnType<typeof readAs>>[] = [];
  for (const endMs = performance.now() + floodMs; performance.now() < endMs; await delay(20))
    answers.push(await readAs(other));
  await flooding;
  await expectServed(bystander);
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(2_500);
});

test("a user has only so many requests under way, and is asked to come back", async () => {
  const greedy = await accountToken(target, "greedy");
  const sessions = await Promise.all([1, 2, 3].map(session));
  const statuses: number[] = [];
  let retryAfter: unknown;
  for (const opened of sessions)
    for (let i = 0; i < streams; i++) {
      // A body that does not come keeps its request under way.
      const stream = opened.request({
        ":method": "POST",
        ":path": "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        authorization: `Bearer ${greedy}`,
      });
      stream.on("error", () => undefined);
      stream.once("response", (headers) => {
        statuses.push(Number(headers[":status"]));
        retryAfter = headers["retry-after"];
      });
    }
  await expect.poll(() => statuses.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(200);
  expect(new Set(statuses)).toEqual(new Set([429]));
  expect(retryAfter).toBe("1");
  const other = await accountToken(target, "modest");
  expect((await readAs(other)).status).toBe(200);
  for (const opened of sessions) opened.destroy();
});

test("streams that are opened and reset at once end their own connection at most", async () => {
  await using bystander = target.bystander(20);
  const opened = await session();
  for (let i = 0; i < 10_000 && !opened.destroyed; i++) {
    const stream = opened.request({ ":path": "/api/v1/pods" });
    stream.on("error", () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    if (i % 100 === 0) await delay(1);
  }
  opened.destroy();
  await expectServed(bystander);
});

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const emptySettings = frame(4, 0, 0, Buffer.alloc(0));

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

async function rawHttp2(): Promise<TLSSocket> {
  const socket = connect({
    host: "127.0.0.1",
    port: Number(target.url.port),
    ca: target.connection.ca,
    ALPNProtocols: ["h2"],
  });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  socket.write(Buffer.concat([preface, emptySettings]));
  return socket;
}

test.each([
  ["settings", frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255]))],
  ["pings", frame(6, 0, 0, Buffer.alloc(8))],
  ["priorities", frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
  ["window updates of nothing", frame(8, 0, 0, Buffer.from([0, 0, 0, 1]))],
  ["frames of unknown kinds", frame(0x50, 0, 0, Buffer.alloc(100))],
  ["data for streams that are not", frame(0, 0, 1, Buffer.alloc(0))],
  ["headers that never end", frame(1, 0, 1, Buffer.from([0x82]))],
])("a flood of %s from a stranger who reads nothing stops nobody", async (_, each) => {
  await using bystander = target.bystander(20);
  const before = target.residentBytes();
  const socket = await rawHttp2();
  socket.pause();
  const batch = Buffer.concat(Array.from({ length: 1_000 }, () => each));
  for (const endMs = performance.now() + 1_000; performance.now() < endMs && !socket.destroyed; await delay(1))
    if (socket.writableLength < 1_000_000) socket.write(batch);
  await expectServed(bystander);
  expect(target.residentBytes() - before).toBeLessThan(150 * 1024 * 1024);
  socket.destroy();
});

test("strangers who open connections and say nothing keep nobody out", async () => {
  await using bystander = target.bystander(20);
  const sockets: TLSSocket[] = [];
  for (let i = 0; i < 600; i++) {
    const socket = connect({ host: "127.0.0.1", port: Number(target.url.port), ca: target.connection.ca });
    socket.on("error", () => undefined);
    sockets.push(socket);
    if (i % 20 === 0) await once(socket, "secureConnect").catch(() => undefined);
  }
  await expect
    .poll(() => sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length, {
      timeout: 20_000,
    })
    .toBeGreaterThanOrEqual(50);
  await expectServed(bystander);
  for (const socket of sockets) socket.destroy();
});

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)("2,000 strangers who send half of a request at once let an administrator connect", async () => {
  const script = new URL("half-requests.fixture.ts", import.meta.url).pathname;
  // As another user of this host, who can read neither this folder nor the server's.
  const source = readFileSync(script, "utf8");
  await using bystander = target.bystander(20);
  const flags = ["--input-type=module-typescript", "--eval", source, "none", target.url.port, "2000"];
  const attacker = spawn(process.execPath, flags, { uid: nobody, gid: nobody, cwd: "/", stdio: "ignore" });
  try {
    // Before there was a limit, an administrator waited for all of them: 6 to 12 s.
    await delay(12_000);
    expect(attacker.exitCode).toBeNull();
    await expectServed(bystander);
    expect(bystander.worstMs).toBeLessThan(3_000);
  } finally {
    attacker.kill();
  }
});
