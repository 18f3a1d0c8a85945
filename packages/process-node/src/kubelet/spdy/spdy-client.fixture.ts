import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { constants, createDeflate } from "node:zlib";
import { onTestFinished } from "vitest";
import { headerDictionary } from "./header-dictionary.ts";
import { FrameReader } from "./spdy-frames.ts";

/** The port of a server that serves each connection so. */
export async function listen(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A client as kubectl is one. */
export class SpdyClient {
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

  static async to(port: number): Promise<SpdyClient> {
    const client = new SpdyClient(port);
    await once(client.socket, "connect");
    return client;
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

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
