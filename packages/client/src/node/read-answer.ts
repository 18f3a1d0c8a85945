/** Makes an ApiResponse of an HTTP answer. */
import { pipeline } from "node:stream";
import type { ApiRequest, ApiResponse } from "@setpoint/apimachinery";
import { decodeJson } from "@setpoint/apimachinery";
import { type Clock, nextTurn } from "@setpoint/host";
import type { AnswerBody } from "./answer-body.ts";
import type { AnswerHead } from "./answer-parser.ts";
import { connectionLost } from "./connection-lost.ts";
import type { IncomingAnswer } from "./kept-connection.ts";
import { lazyModules } from "./lazy-modules.ts";
import { watchFrames } from "./watch-frames.ts";

/**
 * Large enough that a list is few chunks, small enough that looking at one takes well below a millisecond.
 */
const inflatedChunkBytes = 128 * 1024;

/** Makes an answer of what arrives. */
export type AnswerReader<R> = (request: ApiRequest, answer: IncomingAnswer, clock: Clock) => Promise<R>;

export async function readAnswer(
  request: ApiRequest,
  { body, ...head }: IncomingAnswer,
  clock: Clock,
): Promise<ApiResponse> {
  if (head.status < 300 && isWatch(request))
    return { ...head, kind: "watch", frames: watchFrames(plain(head, body, clock)) };
  if (!isJson(head)) return { ...head, kind: "bytes", bytes: plain(head, body, clock) };
  const bytes = await body.all();
  const json = head.headers["content-encoding"] === "gzip" ? await unzip(bytes) : bytes;
  return { ...head, kind: "object", object: json.length === 0 ? undefined : decodeJson(json.toString("utf8")) };
}

export function isWatch({ query, path }: ApiRequest): boolean {
  const watch = query?.["watch"];
  return watch === "true" || watch === "1" || /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/watch\//.test(path);
}

export function isJson({ headers }: AnswerHead): boolean {
  const type = headers["content-type"] ?? "";
  return type.startsWith("application/json") || type.includes("+json");
}

/** The chunks of a body, inflated on another thread if they are compressed. */
export function plain({ headers }: AnswerHead, body: AnswerBody, clock: Clock): AsyncIterable<Uint8Array> {
  return headers["content-encoding"] === "gzip" ? inflated(body, clock) : body;
}

async function* inflated(body: AnswerBody, clock: Clock): AsyncGenerator<Uint8Array> {
  // What runs for the first time, and is loaded for it, takes milliseconds: the head, the module and what
  // came meanwhile a turn each.
  await nextTurn(clock);
  const { createGunzip } = lazyModules.zlib();
  await nextTurn(clock);
  const gunzip = createGunzip({ chunkSize: inflatedChunkBytes });
  // The reader gets the error from the stream; an error before the first read must not end the process.
  pipeline(body, gunzip, () => undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Uint8Array;
  } catch (cause) {
    throw body.failure?.error ?? connectionLost(cause);
  } finally {
    gunzip.destroy();
    await body.return();
  }
}

function unzip(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    lazyModules.zlib().gunzip(bytes, (error, plain) => (error === null ? resolve(plain) : reject(error)));
  });
}
