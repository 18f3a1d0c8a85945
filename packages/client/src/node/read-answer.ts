/** Makes an ApiResponse of the head and the bytes of an HTTP answer, whichever version of HTTP brought them. */
import type { Readable } from "node:stream";
import { type ApiRequest, type ApiResponse, SetpointError } from "@setpoint/apimachinery";
import { lazyModules } from "./lazy-modules.ts";
import { watchFrames } from "./watch-frames.ts";

/** Large enough that a list is few chunks, small enough that looking at one takes well below a millisecond. */
const inflatedChunkBytes = 128 * 1024;

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes an answer of what arrives; `cut` tells at its end whether it is whole. */
export type AnswerReader<R> = (
  request: ApiRequest,
  head: AnswerHead,
  body: Readable,
  cut: () => boolean,
  signal: AbortSignal | undefined,
) => Promise<R>;

export async function readAnswer(
  request: ApiRequest,
  head: AnswerHead,
  body: Readable,
  cut: () => boolean,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  if (head.status < 300 && isWatch(request)) {
    return { ...head, kind: "watch", frames: watchFrames(whole(inflated(head, body), body, cut, signal)) };
  }
  if (!isJson(head)) return { ...head, kind: "bytes", bytes: whole(inflated(head, body), body, cut, signal) };
  const bytes = await readAll(body, cut, signal);
  const plain = head.headers["content-encoding"] === "gzip" ? await unzip(bytes) : bytes;
  return { ...head, kind: "object", object: plain.length === 0 ? undefined : JSON.parse(plain.toString("utf8")) };
}

export function isWatch({ query, path }: ApiRequest): boolean {
  const watch = query?.["watch"];
  return watch === "true" || watch === "1" || /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/watch\//.test(path);
}

export function isJson({ headers }: AnswerHead): boolean {
  const type = headers["content-type"] ?? "";
  return type.startsWith("application/json") || type.includes("+json");
}

export function inflated({ headers }: AnswerHead, body: Readable): Readable {
  if (headers["content-encoding"] !== "gzip") return body;
  const plain = lazyModules.zlib().createGunzip({ chunkSize: inflatedChunkBytes });
  // Who reads finds the error in the stream; one that comes before anybody reads must not end the process.
  plain.on("error", () => undefined);
  body.once("error", (error) => plain.destroy(error));
  // A stream that is cut while its reader is behind has neither an end nor an error.
  body.once("close", () => {
    if (!body.readableEnded) plain.destroy(connectionLost());
  });
  return body.pipe(plain);
}

function unzip(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    lazyModules.zlib().gunzip(bytes, (error, plain) => (error === null ? resolve(plain) : reject(error)));
  });
}

/** Collects a body without an async iterator: unary answers are most of the traffic. */
function readAll(body: Readable, cut: () => boolean, signal: AbortSignal | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const fail = (cause?: unknown): void => reject(signal?.aborted ? signal.reason : connectionLost(cause));
    body.on("data", (chunk: Buffer) => chunks.push(chunk));
    let isWhole = false;
    body.once("error", fail);
    body.once("close", () => {
      if (!isWhole) fail();
    });
    body.once("end", () => {
      isWhole = !cut();
      if (!isWhole) fail();
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
  });
}

/** The chunks of a stream; throws at its end when it was cut, because half a stream must not look like a whole one. */
export async function* whole(
  chunks: Readable,
  body: Readable,
  cut: () => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of chunks) yield chunk as Uint8Array;
  } catch (cause) {
    throw signal?.aborted ? signal.reason : connectionLost(cause);
  } finally {
    body.destroy();
  }
  if (signal?.aborted) throw signal.reason;
  if (cut()) throw connectionLost();
}

export function connectionLost(cause?: unknown): SetpointError {
  const message = "Cannot read the answer: the connection was cut before its end";
  return new SetpointError("ERR_CONNECTION_LOST", message, { cause });
}
