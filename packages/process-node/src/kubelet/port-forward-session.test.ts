import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { connectOnHost } from "../network/loopback-network.ts";
import { portsOf, runPortForwardSession } from "./port-forward-session.ts";

/** A program in a pod. */
async function program(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function session(...ports: readonly number[]): Promise<WebSocket> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  server.once("connection", (socket) =>
    runPortForwardSession(socket, ports, (port) => connectOnHost("127.0.0.1", port)),
  );
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => socket.terminate());
  return socket;
}

/** Everything of each channel but the frame that says the port, when the session is over. */
async function outcome(socket: WebSocket): Promise<Record<number, string>> {
  const channels: Record<number, Buffer[]> = {};
  socket.on("message", (data: Buffer) => (channels[data[0] ?? -1] ??= []).push(data.subarray(1)));
  await new Promise((resolve) => socket.once("close", resolve));
  return Object.fromEntries(
    Object.entries(channels).map(([channel, [, ...parts]]) => [channel, Buffer.concat(parts).toString()]),
  );
}

const frame = (channel: number, text: string): Buffer => Buffer.concat([Uint8Array.of(channel), Buffer.from(text)]);

test("what a client sends reaches the program, and its answer the client, for each port apart", async () => {
  const echo = (prefix: string) => (socket: Socket) =>
    void socket.once("data", (data) => socket.end(`${prefix} ${data.toString()}`));
  const socket = await session(await program(echo("one")), await program(echo("two")));
  socket.once("open", () => {
    socket.send(frame(0, "a"));
    socket.send(frame(2, "b"));
  });
  expect(await outcome(socket)).toEqual({ 0: "one a", 1: "", 2: "two b", 3: "" });
});

test("the first frame of each channel says the port", async () => {
  const port = await program((socket) => void socket.end());
  const socket = await session(port);
  const frames: Buffer[] = [];
  socket.on("message", (data: Buffer) => frames.push(data));
  await new Promise((resolve) => socket.once("close", resolve));
  expect(frames.map((data) => [data[0], data.readUInt16LE(1)])).toEqual([
    [0, port],
    [1, port],
  ]);
});

test("a port where nothing listens is reported on its error channel", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const channels = await outcome(await session(port));
  expect(channels[0]).toBe("");
  expect(channels[1]).toContain(`cannot reach port ${port}: `);
});

test("a client that goes away ends its connections", async () => {
  const ended = Promise.withResolvers<void>();
  const socket = await session(await program((pod) => void pod.once("close", () => ended.resolve()).resume()));
  socket.once("open", () => socket.close());
  await ended.promise;
});

test("more bytes than a socket buffers arrive in order and complete", async () => {
  const text = "0123456789abcdef".repeat(200_000);
  const socket = await session(await program((pod) => void pod.end(text)));
  const channels = await outcome(socket);
  expect(channels[0]?.length).toBe(text.length);
  expect(channels[0] === text).toBe(true);
});

test.each([
  ["ports=80", [80]],
  ["ports=80&ports=443", [80, 443]],
  ["port=80", [80]],
  ["", undefined],
  ["ports=0", undefined],
  ["ports=http", undefined],
  ["ports=65536", undefined],
  [Array.from({ length: 17 }, (_, i) => `ports=${i + 1}`).join("&"), undefined],
])("the ports of %j are %j", (query, ports) => {
  expect(portsOf(new URLSearchParams(query))).toEqual(ports);
});
