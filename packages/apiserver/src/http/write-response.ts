/** Writes an API response as HTTP: one object, a stream of watch frames, or bytes. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { createGzip } from "node:zlib";
import { encodeJson, type ApiResponse, SetpointError, type WatchFrame } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { EncodingCache } from "./encoding-cache.ts";
import { refuseOverdue, sliceTurn, writeLarge } from "./large-answers.ts";
import type { Reply, ReplyHeaders } from "./reply.ts";

/** Answers above this size are compressed for clients that ask (upstream's threshold). */
export const gzipBytesMin: number = 128 * 1024;
/**
 * Longer lists are encoded and sent in slices of about this many characters, so that other requests get their
 * turn in between.
 */
export const listSliceLength: number = 128 * 1024;
/** Items of this length are slices of their own. */
const largeItemLength = 16 * 1024;
/** What may be kept of encoded lines of watches, and of encoded large items of lists. */
const encodedFramesBytesMax = 4 * 1024 * 1024;
const encodedItemsBytesMax = 8 * 1024 * 1024;
/** What may wait for a slow client before the next frame has to wait too. */
export const watchBufferBytesMax: number = 256 * 1024;
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

/** Lines of watches: the same event goes to every watcher, one after the other. */
const frames = new EncodingCache(encodedFramesBytesMax);
/** Large items of lists: lists of the same objects at the same time share them. */
const largeItems = new EncodingCache(encodedItemsBytesMax);

/** One line of a watch. */
export function encodeFrame({ type, object }: WatchFrame): Buffer {
  const known = frames.find(object, type);
  if (known !== undefined) return known;
  return frames.keep(object, type, Buffer.from(`{"type":"${type}","object":${encodeJson(object)}}\n`));
}

function writeObject(reply: Reply, status: number, object: unknown, options: WriteOptions): Promise<void> | void {
  const headers = options.headers;
  headers["content-type"] ??= "application/json";
  if (!options.pretty && isList(object)) return writeList(reply, status, object, options);
  const text = encodeJson(object, options.pretty ? 2 : undefined);
  if (options.gzip && text.length > gzipBytesMin) return writeZipped(reply, status, [text, "\n"], options);
  writeWhole(reply, status, `${text}\n`, options);
}

function writeWhole(reply: Reply, status: number, body: string, options: WriteOptions): void {
  options.headers["content-length"] = String(Buffer.byteLength(body));
  reply.whole(status, options.headers, options.headOnly ? "" : body);
}

type List = Readonly<Record<string, unknown>> & { readonly items: readonly unknown[] };

function isList(object: unknown): object is List {
  return typeof object === "object" && object !== null && Array.isArray((object as { readonly items?: unknown }).items);
}

/**
 * The text of a list in slices of bounded size; `items` comes last, as upstream's streaming encoder has it.
 */
function* listSlices({ items, ...rest }: List): Generator<string | Buffer> {
  let slice = `${encodeJson(rest).slice(0, -1)},"items":[`;
  for (const [at, item] of items.entries()) {
    if (at > 0) slice += ",";
    const part = encodeItem(item);
    if (typeof part === "string") slice += part;
    if (typeof part === "string" && slice.length < listSliceLength) continue;
    yield slice;
    slice = "";
    if (typeof part === "string") continue;
    for (let from = 0; from < part.length; from += listSliceLength) yield part.subarray(from, from + listSliceLength);
  }
  yield `${slice}]}\n`;
}

/** Bytes of a large item, which are shared, or the text of a small one. */
function encodeItem(item: unknown): string | Buffer {
  const known = largeItems.find(item, "");
  if (known !== undefined) return known;
  const text = encodeJson(item);
  return text.length < largeItemLength ? text : largeItems.keep(item, "", Buffer.from(text));
}

function writeList(reply: Reply, status: number, list: List, options: WriteOptions): Promise<void> | void {
  const slices = listSlices(list);
  const first = slices.next().value ?? "";
  const second = slices.next();
  if (second.done === true) return writeWhole(reply, status, String(first), options);
  const all = chained([first, second.value], slices);
  return writeLarge(() => writeSlices(reply, status, all, options));
}

function* chained<T>(first: Iterable<T>, rest: Iterable<T>): Generator<T> {
  yield* first;
  yield* rest;
}

async function writeSlices(
  reply: Reply,
  status: number,
  slices: Iterable<string | Buffer>,
  options: WriteOptions,
): Promise<void> {
  if (options.gzip) return writeZipped(reply, status, slices, options);
  reply.head(status, options.headers);
  if (!options.headOnly) await writeEach(reply, reply.out, slices, options);
  reply.out.end();
}

async function writeZipped(
  reply: Reply,
  status: number,
  parts: Iterable<string | Buffer>,
  options: WriteOptions,
): Promise<void> {
  const { headers } = options;
  headers["content-encoding"] = "gzip";
  headers["vary"] = "Accept-Encoding";
  reply.head(status, headers);
  if (options.headOnly) return void reply.out.end();
  const gzip = createGzip({ level: 1 });
  gzip.pipe(reply.out);
  await writeEach(reply, gzip, parts, options);
  gzip.end();
}

async function writeEach(
  reply: Reply,
  out: Writable,
  slices: Iterable<string | Buffer>,
  options: WriteOptions,
): Promise<void> {
  const { clock } = options;
  let waitedMs = 0;
  for (const slice of slices) {
    const startMs = clock.monotonic();
    await writeWhenRoom(reply, out, slice, options);
    waitedMs += clock.monotonic() - startMs;
    refuseOverdue(waitedMs);
    await sliceTurn(clock);
  }
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

async function writeWhenRoom(reply: Reply, out: Writable, part: string | Buffer, options: WriteOptions): Promise<void> {
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
