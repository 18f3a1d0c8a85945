/** Cuts the byte stream of a watch into frames. */
import { SetpointError, type WatchFrame } from "@setpoint/apimachinery";

/** The longest line of a watch: an object of the largest size with its managed fields, and room to spare. */
export const watchLineBytesMax: number = 32 * 1024 * 1024;

/** Parses one JSON object per line. What is not read stays in the connection's window, so nothing grows without limit. */
export async function* watchFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WatchFrame> {
  let rest: Buffer[] = [];
  let restLength = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      rest.push(bytes.subarray(start, end));
      const line = rest.length === 1 ? rest[0] : Buffer.concat(rest);
      rest = [];
      restLength = 0;
      start = end + 1;
      if (line !== undefined && line.length > 0) yield JSON.parse(line.toString("utf8")) as WatchFrame;
    }
    if (start === bytes.length) continue;
    rest.push(bytes.subarray(start));
    restLength += bytes.length - start;
    if (restLength > watchLineBytesMax) throw lineTooLong();
  }
}

function lineTooLong(): SetpointError {
  const message = `Cannot read the watch: a line is longer than ${watchLineBytesMax} bytes, wanted one object`;
  return new SetpointError("ERR_WATCH_LINE_TOO_LONG", message);
}
