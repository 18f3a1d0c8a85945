/** Answers whose objects stay bytes: lists are cut into items, and watches into frames, while they arrive. */
import type { Readable } from "node:stream";
import type { ApiRequest, RawList, RawResponse } from "@setpoint/apimachinery";
import { ListSplitter, type RawListHead } from "./list-splitter.ts";
import { type AnswerHead, inflated, isJson, isWatch, readAnswer, whole } from "./read-answer.ts";
import { rawWatchFrames } from "./watch-frames.ts";

export async function readRawAnswer(
  request: ApiRequest,
  head: AnswerHead,
  body: Readable,
  cut: () => boolean,
  signal: AbortSignal | undefined,
): Promise<RawResponse> {
  if (head.status >= 300 || !isJson(head)) return readAnswer(request, head, body, cut, signal);
  const chunks = whole(inflated(head, body), body, cut, signal);
  if (isWatch(request)) return { ...head, kind: "rawWatch", frames: rawWatchFrames(chunks) };
  return { ...head, kind: "rawList", list: rawList(chunks) };
}

function rawList(chunks: AsyncIterable<Uint8Array>): RawList {
  const end: ListEnd = { head: undefined };
  return { batches: batches(chunks, end), metadata: () => end.head?.metadata ?? {} };
}

/** What is known when the last item was seen. */
interface ListEnd {
  head: RawListHead | undefined;
}

async function* batches(chunks: AsyncIterable<Uint8Array>, end: ListEnd): AsyncGenerator<readonly Uint8Array[]> {
  const splitter = new ListSplitter();
  for await (const chunk of chunks) {
    const items = splitter.push(chunk);
    if (items.length > 0) yield items;
  }
  end.head = splitter.end();
}
