/** Answers whose objects stay bytes: lists are cut into items, and watches into frames, while they arrive. */
import type { ApiRequest, RawList, RawResponse } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { IncomingAnswer } from "./kept-connection.ts";
import { ListSplitter, type RawListHead } from "./list-splitter.ts";
import { isJson, isWatch, plain, readAnswer } from "./read-answer.ts";
import { rawWatchFrames } from "./watch-frames.ts";

export async function readRawAnswer(request: ApiRequest, answer: IncomingAnswer, clock: Clock): Promise<RawResponse> {
  if (answer.status >= 300 || !isJson(answer)) return readAnswer(request, answer, clock);
  const { body, ...head } = answer;
  const chunks = plain(head, body, clock);
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

/**
 * Cut at a time: code that runs for the first time takes ten times as long, and nobody else has a turn
 * meanwhile.
 */
const cutBytes = 16 * 1024;

async function* batches(chunks: AsyncIterable<Uint8Array>, end: ListEnd): AsyncGenerator<readonly Uint8Array[]> {
  const splitter = new ListSplitter();
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += cutBytes) {
      const items = splitter.push(chunk.subarray(from, from + cutBytes));
      if (items.length > 0) yield items;
    }
  }
  end.head = splitter.end();
}
