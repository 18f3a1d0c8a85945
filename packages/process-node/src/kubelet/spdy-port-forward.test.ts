import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { connectOnHost } from "../network/loopback-network.ts";
import { serveSpdyPortForward } from "./spdy-port-forward.ts";
import { listen, SpdyClient, uint32 } from "./spdy/spdy-client.fixture.ts";
import { dataFrame, frameBytesMax, pingFrame } from "./spdy/spdy-frames.ts";

async function client(): Promise<SpdyClient> {
  const port = await listen((socket) => serveSpdyPortForward(socket, (to) => connectOnHost("127.0.0.1", to)));
  return SpdyClient.to(port);
}

const echo = (socket: Socket): void => void socket.once("data", (data) => socket.end(`got ${data.toString()}`));

test("a pair of streams is one connection, and both streams end with it", async () => {
  const to = await client();
  await to.openPair(await listen(echo));
  to.socket.write(dataFrame(3, Buffer.from("a")));
  await expect.poll(() => to.streams.get(3)).toEqual({ text: "got a", isEnded: true });
  to.socket.write(dataFrame(3, Buffer.alloc(0), true));
  await expect.poll(() => to.streams.get(1)).toEqual({ text: "", isEnded: true });
});

test("a port where nothing listens is reported on its error stream, and the session goes on", async () => {
  const to = await client();
  await to.openPair(1);
  await expect.poll(() => to.streams.get(1)?.text).toContain("cannot reach port 1: ");
  await to.openPair(await listen(echo), 5);
  to.socket.write(dataFrame(7, Buffer.from("b")));
  await expect.poll(() => to.streams.get(7)?.text).toBe("got b");
});

test("a program that does not read holds its client back, and the client's end ends its connection", async () => {
  const pod = Promise.withResolvers<Socket>();
  const to = await client();
  await to.openPair(await listen((socket) => pod.resolve(socket.pause())));
  const program = await pod.promise;
  const block = dataFrame(3, Buffer.alloc(64 * 1024));
  const blocksMax = 1_000;
  for (let i = 0; i < blocksMax; i++) to.socket.write(block);
  let written = -1;
  // The kernel's buffers fill; then nothing more is taken.
  await expect
    .poll(() => written === (written = to.socket.bytesWritten - to.socket.writableLength), { interval: 200 })
    .toBe(true);
  expect(written).toBeLessThan(blocksMax * block.length);
  const ended = once(program, "close");
  to.socket.destroy();
  program.resume();
  await ended;
});

test.each([
  ["a frame that is too long", Buffer.concat([Buffer.from([0, 0, 0, 1, 0]), uint32(frameBytesMax + 1).subarray(1)])],
  ["another version of the protocol", Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0])],
  ["headers that are not compressed", Buffer.from([0x80, 3, 0, 1, 0, 0, 0, 14, ...Buffer.alloc(10), 1, 2, 3, 4])],
  ["a ping without a number", Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 0])],
])("%s ends the connection and nothing else", async (_what, bytes) => {
  const to = await client();
  to.socket.write(bytes);
  await expect.poll(() => to.isClosed).toBe(true);
});

test("headers that expand to more than a block may hold end the connection", async () => {
  const to = await client();
  await to.open(1, { streamtype: "x".repeat(100_000) });
  await expect.poll(() => to.isClosed).toBe(true);
});

test("a stream without a port, or without its error stream, is reset", async () => {
  const to = await client();
  await to.open(1, { streamtype: "data", port: "80", requestid: "1" });
  await to.openPair(99_999, 3);
  to.socket.write(pingFrame(7));
  await expect.poll(() => to.kinds).toContain("ping");
  await expect.poll(() => to.kinds.filter((kind) => kind === "reset").length).toBe(2);
});
