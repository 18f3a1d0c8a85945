import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { constants, createDeflate } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { connectOnHost } from "../network/loopback-network.ts";
import { serveSpdyPortForward } from "./spdy-port-forward.ts";
import { headerDictionary } from "./spdy/header-dictionary.ts";
import { dataFrame, FrameReader, frameBytesMax, pingFrame } from "./spdy/spdy-frames.ts";

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A client as kubectl is one. */
class Client {
  readonly socket: Socket;
  readonly #deflate = createDeflate({ dictionary: headerDictionary });
  /** The data of each stream, and whether it has ended. */
  readonly streams = new Map<number, { text: string; isEnded: boolean }>();
  /** The kinds of all frames, from the first one on. */
  readonly kinds: string[] = [];
  isClosed = false;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    onTestFinished(() => void this.socket.destroy());
    const reader = new FrameReader();
    this.socket.on("data", (chunk: Buffer) => {
      for (const frame of reader.read(chunk)) {
        this.kinds.push(frame.kind);
        if (frame.kind !== "data") continue;
        const { text = "" } = this.streams.get(frame.stream) ?? {};
        this.streams.set(frame.stream, { text: text + frame.payload.toString(), isEnded: frame.isLast });
      }
    });
    this.socket.on("error", () => {}).on("close", () => (this.isClosed = true));
  }

  async open(stream: number, headers: Readonly<Record<string, string>>): Promise<void> {
    const text = (value: string): Buffer => Buffer.concat([uint32(value.length), Buffer.from(value)]);
    const entries = Object.entries(headers).flatMap(([name, value]) => [text(name), text(value)]);
    const parts: Buffer[] = [];
    this.#deflate.on("data", (part: Buffer) => parts.push(part));
    this.#deflate.write(Buffer.concat([uint32(Object.keys(headers).length), ...entries]));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    this.#deflate.removeAllListeners("data");
    const payload = Buffer.concat([uint32(stream), Buffer.alloc(6), ...parts]);
    this.socket.write(Buffer.concat([Buffer.from([0x80, 3, 0, 1, 0]), uint32(payload.length).subarray(1), payload]));
  }

  async openPair(port: number, stream = 1): Promise<void> {
    const headers = { port: String(port), requestid: String(stream) };
    await this.open(stream, { streamtype: "error", ...headers });
    await this.open(stream + 2, { streamtype: "data", ...headers });
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

async function client(): Promise<Client> {
  const port = await listen((socket) => serveSpdyPortForward(socket, (to) => connectOnHost("127.0.0.1", to)));
  const connected = new Client(port);
  await once(connected.socket, "connect");
  return connected;
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
