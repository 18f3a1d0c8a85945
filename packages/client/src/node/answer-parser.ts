/** Reads the answers of one connection, one after the other, as HTTP/1.1 writes them (RFC 9112). */

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; a name that comes more than once has its values joined. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Callbacks for the parts of a response while it arrives. */
export interface AnswerSink {
  /** `isLast`: the server closes the connection after this answer. */
  head(head: AnswerHead, isLast: boolean): void;
  /** A part of the body; the bytes are the receiver's. */
  data(chunk: Buffer): void;
  end(): void;
}

/** Head, or trailer: more than any server sends, and little enough to hold. */
const headBytesMax = 64 * 1024;
/** The size of a chunk in hexadecimal digits, with extensions, of which nobody uses any. */
const chunkLineBytesMax = 1024;
const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");
const nothing = Buffer.alloc(0);

/**
 * `head`: before or in a head; `fixed`: in a body whose length the head says; `closing`: in one that ends
 * with the connection; the others are in a chunked one.
 */
type State = "head" | "fixed" | "closing" | "chunk line" | "chunk" | "chunk end" | "trailer";

/** Throws an Error that says what is wrong with what came; nothing that comes after it means anything. */
export class AnswerParser {
  readonly #sink: AnswerSink;
  #state: State = "head";
  /** What came and cannot be read before more comes. */
  #rest: Buffer = nothing;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;
  #isHead = false;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** The next answer is to a request with this method: one to HEAD has no body, whatever it says. */
  expect(method: string): void {
    this.#isHead = method === "HEAD";
  }

  push(chunk: Buffer): void {
    let bytes: Buffer | undefined = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = nothing;
    while (bytes !== undefined && bytes.length > 0) bytes = this.#step(bytes);
  }

  /** The connection has ended, and with it a body that has no other end. */
  close(): void {
    if (this.#state === "closing") this.#end();
  }

  /** Reads what it can; undefined when more has to come first. */
  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes);
      case "closing":
        this.#sink.data(bytes);
        return undefined;
      case "fixed":
      case "chunk":
        return this.#readBody(bytes);
      case "chunk line":
        return this.#readChunkLine(bytes);
      case "chunk end":
        return this.#readChunkEnd(bytes);
      case "trailer":
        return this.#readTrailer(bytes);
    }
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(headEnd);
    if (end === -1) return this.#wait(bytes, headBytesMax, "its head");
    const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
    const status = statusOf(first);
    const rest = bytes.subarray(end + headEnd.length);
    // 100 and 103 announce the answer.
    if (status < 200 && status !== 101) return rest;
    const headers = headersOf(lines);
    const length = lengthOf(headers);
    const isChunked = headers["transfer-encoding"] !== undefined;
    const hasBody = !this.#isHead && status !== 204 && status !== 304;
    const endsWithConnection = hasBody && !isChunked && length === undefined;
    this.#sink.head({ status, headers }, endsWithConnection || closes(first, headers));
    if (!hasBody || length === 0) this.#end();
    else if (isChunked) this.#state = "chunk line";
    else this.#state = endsWithConnection ? "closing" : "fixed";
    this.#left = length ?? 0;
    return rest;
  }

  #readBody(bytes: Buffer): Buffer {
    const part = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= part.length;
    this.#sink.data(part);
    if (this.#left === 0 && this.#state === "fixed") this.#end();
    else if (this.#left === 0) this.#state = "chunk end";
    return bytes.subarray(part.length);
  }

  #readChunkLine(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(lineEnd);
    if (end === -1) return this.#wait(bytes, chunkLineBytesMax, "the size of a chunk");
    const text = bytes.toString("latin1", 0, end);
    const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(text) ?? [];
    if (digits === undefined) throw malformed(`the size of a chunk is ${quoted(text)}`);
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? "trailer" : "chunk";
    return bytes.subarray(end + lineEnd.length);
  }

  #readChunkEnd(bytes: Buffer): Buffer | undefined {
    if (bytes.length < lineEnd.length) return this.#wait(bytes, lineEnd.length, "a chunk");
    if (!bytes.subarray(0, lineEnd.length).equals(lineEnd)) throw malformed("a chunk is longer than it says");
    this.#state = "chunk line";
    return bytes.subarray(lineEnd.length);
  }

  /** Trailers are ignored. */
  #readTrailer(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(lineEnd);
    if (end === -1) return this.#wait(bytes, headBytesMax, "its trailer");
    if (end === 0) this.#end();
    return bytes.subarray(end + lineEnd.length);
  }

  #wait(bytes: Buffer, bytesMax: number, what: string): undefined {
    if (bytes.length > bytesMax) throw malformed(`${what} is longer than ${bytesMax} bytes`);
    this.#rest = bytes;
  }

  #end(): void {
    this.#state = "head";
    this.#sink.end();
  }
}

function statusOf(line: string): number {
  const [, status] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/.exec(line) ?? [];
  if (status === undefined) throw malformed(`it begins with ${quoted(line)}`);
  return Number(status);
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    // A name has no spaces, and a value no second line: such a header is an attempt at request smuggling.
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) throw malformed(`it has the header ${quoted(line)}`);
    const value = line.slice(colon + 1).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

/**
 * The length of a body that says so. One that says two things could be read in two ways, and the next answer
 * with it.
 */
function lengthOf(headers: Readonly<Record<string, string>>): number | undefined {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined && (length !== undefined || encoding.toLowerCase() !== "chunked"))
    throw malformed(`its length is ${quoted(length ?? "")} and its transfer-encoding ${quoted(encoding)}`);
  if (length === undefined) return undefined;
  if (!/^\d{1,15}$/.test(length)) throw malformed(`its content-length is ${quoted(length)}`);
  return Number(length);
}

function closes(statusLine: string, headers: Readonly<Record<string, string>>): boolean {
  const said = headers["connection"]?.toLowerCase() ?? "";
  return statusLine.startsWith("HTTP/1.0") ? !said.includes("keep-alive") : said.includes("close");
}

function malformed(why: string): Error {
  return new Error(`the answer is no HTTP/1.1: ${why}`);
}

/** Enough of what came to know it again. */
function quoted(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100)}…`);
}
