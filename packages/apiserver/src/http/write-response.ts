/** Writes an answer of the API as HTTP: one object, a stream of watch frames, or bytes. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { createGzip } from "node:zlib";
import { type ApiResponse, SetpointError, type WatchFrame } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { Reply, ReplyHeaders } from "./reply.ts";

/** Answers above this size are compressed for clients that ask (upstream's threshold). */
export const gzipBytesMin: number = 128 * 1024;
/** Lists longer than this are encoded and sent in parts, so that other requests get their turn in between. */
export const listChunkItems = 500;
/** What may wait for a slow client before the next frame has to wait too. */
export const watchBufferBytesMax: number = 1024 * 1024;
/** How long a full buffer may stay full; then the watch is cut, and the client lists or resumes. */
export const slowClientMsMax = 10_000;

export interface WriteOptions {
  readonly clock: Clock;
  readonly headers: ReplyHeaders;
  readonly gzip: boolean;
  readonly pretty: boolean;
  readonly signal: AbortSignal;
  readonly headOnly: boolean;
}

export async function writeResponse(reply: Reply, response: ApiResponse, options: WriteOptions): Promise<void> {
  if (response.kind === "watch") return writeWatch(reply, response.status, response.frames, options);
  if (response.kind === "bytes") return writeBytes(reply, response.status, response.bytes, options);
  return writeObject(reply, response.status, response.object, options);
}

/** Encoded once per object, because the same frozen object goes to every watcher. */
const encodedFrames = new WeakMap<object, { readonly type: string; readonly bytes: Buffer }>();

/** One line of a watch. */
export function encodeFrame(frame: WatchFrame): Buffer {
  const { object, type } = frame;
  if (typeof object !== "object" || object === null || !Object.isFrozen(object)) return encodeLine(type, object);
  const known = encodedFrames.get(object);
  if (known?.type === type) return known.bytes;
  const bytes = encodeLine(type, object);
  encodedFrames.set(object, { type, bytes });
  return bytes;
}

function encodeLine(type: string, object: unknown): Buffer {
  return Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
}

function writeObject(reply: Reply, status: number, object: unknown, options: WriteOptions): Promise<void> | void {
  const headers = options.headers;
  headers["content-type"] ??= "application/json";
  if (!options.pretty && isLongList(object)) return writeList(reply, status, object, options);
  const text = options.pretty ? JSON.stringify(object, undefined, 2) : JSON.stringify(object);
  if (options.gzip && text.length > gzipBytesMin) return writeZipped(reply, status, [text, "\n"], options);
  const body = `${text}\n`;
  headers["content-length"] = String(Buffer.byteLength(body));
  reply.whole(status, headers, options.headOnly ? "" : body);
}

type LongList = Readonly<Record<string, unknown>> & { readonly items: readonly unknown[] };

function isLongList(object: unknown): object is LongList {
  if (typeof object !== "object" || object === null) return false;
  const { items } = object as { readonly items?: unknown };
  return Array.isArray(items) && items.length > listChunkItems;
}

/** The text of a list in parts; `items` comes last, as upstream's streaming encoder has it. */
function* listParts(list: LongList): Generator<string> {
  const { items, ...rest } = list;
  yield `${JSON.stringify(rest).slice(0, -1)},"items":[`;
  for (let at = 0; at < items.length; at += listChunkItems) {
    const part = items.slice(at, at + listChunkItems).map((item) => JSON.stringify(item));
    yield `${at === 0 ? "" : ","}${part.join(",")}`;
  }
  yield "]}\n";
}

async function writeList(reply: Reply, status: number, list: LongList, options: WriteOptions): Promise<void> {
  if (options.gzip) return writeZipped(reply, status, listParts(list), options);
  reply.head(status, options.headers);
  if (!options.headOnly) for (const part of listParts(list)) await writeWhenRoom(reply, reply.out, part, options);
  reply.out.end();
}

async function writeZipped(
  reply: Reply,
  status: number,
  parts: Iterable<string>,
  options: WriteOptions,
): Promise<void> {
  const { headers } = options;
  headers["content-encoding"] = "gzip";
  headers["vary"] = "Accept-Encoding";
  reply.head(status, headers);
  if (options.headOnly) return void reply.out.end();
  const gzip = createGzip({ level: 1 });
  gzip.pipe(reply.out);
  for (const part of parts) await writeWhenRoom(reply, gzip, part, options);
  gzip.end();
}

async function writeWatch(
  reply: Reply,
  status: number,
  frames: AsyncIterable<WatchFrame>,
  options: WriteOptions,
): Promise<void> {
  options.headers["content-type"] ??= "application/json";
  reply.head(status, options.headers);
  await pump(reply, frames, encodeFrame, options);
}

async function writeBytes(
  reply: Reply,
  status: number,
  bytes: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  options.headers["content-type"] ??= "text/plain";
  reply.head(status, options.headers);
  await pump(reply, bytes, (chunk) => chunk, options);
}

/** Sends what comes until it ends; an abort by the client or by a closing server ends it too. */
async function pump<T>(
  reply: Reply,
  source: AsyncIterable<T>,
  encode: (value: T) => Uint8Array,
  options: WriteOptions,
): Promise<void> {
  for await (const value of source) {
    if (options.signal.aborted || reply.out.destroyed) break;
    if (!reply.out.write(encode(value)) && reply.out.writableLength > watchBufferBytesMax) {
      await room(reply.out, options);
    }
  }
  reply.out.end();
}

async function writeWhenRoom(reply: Reply, out: Writable, part: string, options: WriteOptions): Promise<void> {
  if (options.signal.aborted || reply.out.destroyed) throw options.signal.reason ?? new Error("the client went away");
  if (!out.write(part)) await room(out, options);
}

/** Resolves when the buffer has drained; a client that does not read within the limit loses its stream. */
async function room(out: Writable, options: WriteOptions): Promise<void> {
  const late = new AbortController();
  const timer = options.clock.setTimer(() => late.abort(slowClient()), slowClientMsMax);
  try {
    await once(out, "drain", { signal: AbortSignal.any([options.signal, late.signal]) });
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    timer.cancel();
  }
}

function slowClient(): SetpointError {
  return new SetpointError("ERR_SLOW_CLIENT", `The client read nothing for ${slowClientMsMax} ms: its stream was cut`);
}
