/**
 * Bodies of every size arrive over every transport. `SETPOINT_ATTACK_SIZES=full` sends every power of the
 * square root of two.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { httpTransport } from "@setpoint/client/node";
import { systemClock } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Target } from "./target.ts";

const path = "/api/v1/namespaces/default/configmaps";
/** The largest ConfigMap that may be. */
const bytesMax = 1024 * 1024;
const sizes =
  process.env["SETPOINT_ATTACK_SIZES"] === "full"
    ? [...new Set(Array.from({ length: 41 }, (_, i) => Math.floor(2 ** (i / 2))))]
    : [1, 3_000, 49_000, 101_000, 262_144, 399_999, bytesMax];

let target: Target;
let serial = 0;
beforeAll(async () => {
  target = await Target.start();
});
afterAll(() => target[Symbol.asyncDispose]());

function configMap(size: number): string {
  const metadata = { name: `body-${serial++}` };
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { x: "x".repeat(size - 1) } });
}

type Post = (body: string) => Promise<number>;

function postWith(agent: Agent | false): Post {
  const { ca, cert, key } = target.connection;
  const { hostname: host, port } = target.url;
  return (body) =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const sent = request({ host, port, method: "POST", path, headers, ca, cert, key, agent }, (answer) => {
        answer.resume();
        answer.once("error", reject);
        answer.once("end", () => resolve(answer.statusCode ?? 0));
      });
      sent.once("error", reject);
      sent.end(body);
    });
}

async function postOverHttp2(session: ClientHttp2Session, body: string): Promise<number> {
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
  stream.end(body);
  const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
  stream.resume();
  await once(stream, "end");
  return Number(headers[":status"]);
}

/** One worker after the other sends each size. */
async function expectAllCreated(workers: number, post: Post): Promise<void> {
  const outcomes = await Promise.all(
    Array.from({ length: workers }, async () => {
      const all: string[] = [];
      for (const size of sizes) all.push(`${size}: ${await post(configMap(size)).catch(String)}`);
      return all;
    }),
  );
  expect(outcomes.flat()).toEqual(outcomes.flatMap(() => sizes.map((size) => `${size}: 201`)));
}

test("node:https on kept connections gets an answer to bodies of every size", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  await expectAllCreated(3, postWith(agent));
  agent.destroy();
});

test("node:https with a connection a request gets an answer to bodies of every size", () =>
  expectAllCreated(2, postWith(false)));

test("our own client knows the outcome of bodies of every size", async () => {
  await using transport = httpTransport({ ...target.connection, clock: systemClock, userAgent: "bodies" });
  await expectAllCreated(3, async (body) => {
    const { status } = await transport.send({ method: "POST", path, body: JSON.parse(body) });
    return status;
  });
});

test("HTTP/2 carries bodies of every size, several streams at once", async () => {
  const { ca, cert, key } = target.connection;
  const session = connectHttp2(target.url.href, { ca: ca ?? "", cert: cert ?? "", key: key ?? "" });
  await expectAllCreated(3, (body) => postOverHttp2(session, body));
  session.close();
});

test("a client that sends the next body before it has read the last answer is answered as often", async () => {
  const { ca, cert, key } = target.connection;
  const count = 20;
  for (const size of [50_000, 300_000]) {
    const socket = connect({ host: "127.0.0.1", port: Number(target.url.port), ca, cert, key });
    await once(socket, "secureConnect");
    const failed: unknown[] = [];
    socket.on("error", (error) => failed.push(error));
    for (let i = 0; i < count; i++) {
      const body = configMap(size);
      const last = i === count - 1 ? "Connection: close\r\n" : "";
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${last}`;
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answers =
      Buffer.concat(chunks)
        .toString("latin1")
        .match(/HTTP\/1\.1 \d+/g) ?? [];
    expect({ failed, answers }).toEqual({ failed: [], answers: Array.from({ length: count }, () => "HTTP/1.1 201") });
  }
});

function curl(flags: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("curl", [...flags], (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  });
}

const hasCurl = await curl(["--version"]).then(
  () => true,
  () => false,
);
if (!hasCurl) process.stderr.write("The host has no curl: bodies are not sent with it.\n");

test.skipIf(!hasCurl).each(["--http1.1", "--http2"])(
  "curl %s sends bodies of every size on one connection",
  async (http) => {
    const folder = join(target.kubeconfig, "..");
    const { ca = "", cert = "", key = "" } = target.connection;
    for (const [name, pem] of Object.entries({ ca, cert, key })) writeFileSync(join(folder, `${name}.pem`), pem);
    const identity = [
      "--cacert",
      join(folder, "ca.pem"),
      "--cert",
      join(folder, "cert.pem"),
      "--key",
      join(folder, "key.pem"),
    ];
    const common = [
      "-s",
      http,
      "-o",
      "/dev/null",
      "-w",
      "%{http_code} ",
      "-H",
      "Content-Type: application/json",
      ...identity,
    ];
    const flags = sizes.flatMap((size, i) => {
      const file = join(folder, `${size}.json`);
      writeFileSync(file, configMap(size));
      return [...(i === 0 ? [] : ["--next"]), ...common, "--data-binary", `@${file}`, new URL(path, target.url).href];
    });
    expect((await curl(flags)).trim().split(" ")).toEqual(sizes.map(() => "201"));
  },
);
