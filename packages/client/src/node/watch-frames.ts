/** Cuts the byte stream of a watch into frames. */
import {
  decodeJson,
  encodeJson,
  SetpointError,
  type RawFrame,
  type WatchEventType,
  type WatchFrame,
} from "@setpoint/apimachinery";

/** The longest line of a watch: an object of the largest size with its managed fields, and room to spare. */
export const watchLineBytesMax: number = 32 * 1024 * 1024;

/**
 * Parses one JSON object per line. What is not read stays in the connection's window, so nothing grows
 * without limit.
 */
export async function* watchFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WatchFrame> {
  for await (const lines of watchLines(chunks)) for (const line of lines) yield parseLine(line);
}

/** The frames of one chunk at a time, their objects as bytes. */
export async function* rawWatchFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly RawFrame[]> {
  for await (const lines of watchLines(chunks)) yield lines.map(rawFrame);
}

async function* watchLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer[] = [];
  let restLength = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      rest.push(bytes.subarray(start, end));
      const line = rest.length === 1 ? rest[0] : Buffer.concat(rest);
      rest = [];
      restLength = 0;
      start = end + 1;
      if (line !== undefined && line.length > 0) lines.push(line);
    }
    if (start < bytes.length) {
      rest.push(bytes.subarray(start));
      restLength += bytes.length - start;
      if (restLength > watchLineBytesMax) throw lineTooLong();
    }
    if (lines.length > 0) yield lines;
  }
}

function parseLine(line: Buffer): WatchFrame {
  // The parsing border: a server's watch consists of frames.
  return decodeJson(line.toString("utf8")) as WatchFrame;
}

const typeBegin = Buffer.from('{"type":"');
const objectBegin = Buffer.from('","object":');
const braceEnd = 0x7d;

/**
 * Servers write `{"type":"…","object":…}` without spaces; whatever else means the same is parsed and written
 * so.
 */
function rawFrame(line: Buffer): RawFrame {
  const typeEnd = line.indexOf(0x22, typeBegin.length);
  const objectStart = typeEnd + objectBegin.length;
  if (
    line.subarray(0, typeBegin.length).equals(typeBegin) &&
    line.subarray(typeEnd, objectStart).equals(objectBegin) &&
    line[line.length - 1] === braceEnd
  )
    return {
      type: line.toString("latin1", typeBegin.length, typeEnd) as WatchEventType,
      object: line.subarray(objectStart, line.length - 1),
    };
  const { type, object } = parseLine(line);
  return { type, object: Buffer.from(encodeJson(object)) };
}

function lineTooLong(): SetpointError {
  const message = `Cannot read the watch: a line is longer than ${watchLineBytesMax} bytes, expected one object`;
  return new SetpointError("ERR_WATCH_LINE_TOO_LONG", message);
}
