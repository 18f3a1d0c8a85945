import type { Container } from "@setpoint/api";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "@setpoint/host/system";
import type { RunningContainer } from "../sandbox/container-runtime.ts";
import { connectOnHost } from "../network/loopback-network.ts";
import type { ProbeHandler } from "../cluster/pod.ts";
import { type ProbeResult, runProbe } from "./probe-runner.ts";

const running = {} as RunningContainer;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const probe = (
  handler: ProbeHandler,
  container: Container = { name: "main" },
  timeoutMs = 2_000,
): Promise<ProbeResult> =>
  runProbe(systemClock, handler, { podIP: "127.0.0.1", container, running, connect: connectOnHost }, timeoutMs);
const ok = { ok: true };

test("an HTTP probe succeeds from 200 up to 399 and names the code otherwise", async () => {
  const seen: IncomingMessage[] = [];
  const server = createHttpServer((request, response) => {
    seen.push(request);
    response.writeHead(Number(request.url?.slice(1))).end("x".repeat(10_000));
  });
  const port = await listen(server);
  const get = (path: string) => probe({ httpGet: { port, path, httpHeaders: [{ name: "x-a", value: "b" }] } });
  for (const code of [200, 204, 302, 399]) expect(await get(`/${code}`)).toEqual(ok);
  for (const code of [400, 404, 500])
    expect(await get(`/${code}`)).toEqual({ ok: false, message: `HTTP probe failed with statuscode: ${code}` });
  expect(seen[0]?.headers).toMatchObject({ "x-a": "b", "user-agent": "kube-probe/1.36" });
});

test("an HTTP probe whose connection is closed without an answer fails with EOF", async () => {
  const port = await listen(createServer((socket) => socket.once("data", () => socket.destroy())));
  expect(await probe({ httpGet: { port } })).toEqual({ ok: false, message: `Get "http://127.0.0.1:${port}/": EOF` });
});

test("a port may be named as the container names it", async () => {
  const port = await listen(createHttpServer((_, response) => void response.end()));
  const container: Container = { name: "main", ports: [{ name: "web", containerPort: port }] };
  expect(await probe({ httpGet: { port: "web" } }, container)).toEqual(ok);
  expect(await probe({ tcpSocket: { port: "web" } }, container)).toEqual(ok);
});

test("what does not listen or does not answer fails with the sentence of kubelet", async () => {
  const port = await listen(createServer((socket) => socket.on("error", () => {})));
  const silent = await probe({ httpGet: { port } }, { name: "main" }, 200);
  const deadline = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
  expect(silent).toEqual({ ok: false, message: `Get "http://127.0.0.1:${port}/": ${deadline}` });
  const refused = "dial tcp 127.0.0.1:9: connect: connection refused";
  const secure = await probe({ httpGet: { port: 9, path: "/healthz", scheme: "HTTPS" } });
  expect(secure).toEqual({ ok: false, message: `Get "https://127.0.0.1:9/healthz": ${refused}` });
  expect(await probe({ tcpSocket: { port: 9 } })).toEqual({ ok: false, message: refused });
  expect(await probe({ grpc: { port: 9 } })).toEqual({
    ok: false,
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

test("a gRPC probe asks for the health of its service", async () => {
  const asked: string[] = [];
  const answers: Record<string, number> = { "": 1, good: 1, bad: 2 };
  const server = createHttp2Server();
  server.on("stream", (stream: ServerHttp2Stream) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.once("end", () => {
      const service = Buffer.concat(chunks).subarray(7).toString();
      asked.push(service);
      if (answers[service] === undefined) return stream.respond({ "grpc-status": "12" }, { endStream: true });
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      return stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, answers[service] ?? 0]));
    });
  });
  const port = await listen(server);
  expect(await probe({ grpc: { port } })).toEqual(ok);
  expect(await probe({ grpc: { port, service: "good" } })).toEqual(ok);
  expect(await probe({ grpc: { port, service: "bad" } })).toEqual({
    ok: false,
    message: 'service unhealthy (responded with "NOT_SERVING")',
  });
  expect(await probe({ grpc: { port, service: "nope" } })).toMatchObject({
    ok: false,
    message: expect.stringContaining("does not implement the grpc health protocol"),
  });
  expect(asked).toEqual(["", "good", "bad", "nope"]);
});
