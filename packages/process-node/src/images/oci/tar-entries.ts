import { messageOf } from "@setpoint/apimachinery";
import { pipeline } from "node:stream/promises";
import { extract, type Header } from "tar-stream";
import { refusal } from "./refusal.ts";

/** A file, folder, link or device of a tar file; its content is there until the next entry. */
export interface TarEntry {
  readonly header: Header;
  readonly content: AsyncIterable<Buffer>;
}

/** The entries of a tar file in their order. Content that the caller leaves is skipped. */
export async function* tarEntries(bytes: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = extract();
  const read = pipeline(bytes, reader);
  // An error ends the iteration below; where that has ended before, there is nobody left to report to.
  read.catch(() => {});
  try {
    for await (const entry of reader) {
      // The library types the chunks of all streams as unknown.
      yield { header: entry.header, content: entry as AsyncIterable<Buffer> };
      entry.resume();
    }
  } catch (error) {
    if (/tar header|Invalid header|Header exceeds|Unexpected end/i.test(messageOf(error))) {
      throw refusal("expected a tar file, plain or compressed by gzip or zstd", error);
    }
    throw error;
  }
  await read;
}
