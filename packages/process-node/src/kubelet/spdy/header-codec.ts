/** Headers of SPDY/3 streams: all blocks of a connection are one compressed text. */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from "node:zlib";
import { headerDictionary } from "./header-dictionary.ts";

/** A port-forward names a stream with four short headers. */
const blockBytesMax = 16 * 1024;

export class HeaderReader implements Disposable {
  readonly #inflate: Inflate = createInflate({ dictionary: headerDictionary });
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor() {
    this.#inflate.on("data", (part: Buffer) => {
      this.#bytes += part.length;
      if (this.#bytes <= blockBytesMax) this.#parts.push(part);
    });
    this.#inflate.on("error", () => {});
  }

  /** Blocks must be read one after the other. Rejects when the block is broken or too long. */
  async read(block: Buffer): Promise<ReadonlyMap<string, string>> {
    this.#parts = [];
    this.#bytes = 0;
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => reject(error);
      this.#inflate.once("error", failed);
      this.#inflate.write(block, (error) => {
        this.#inflate.off("error", failed);
        if (error) reject(error);
        else resolve();
      });
    });
    if (this.#bytes > blockBytesMax)
      throw new Error(`Cannot read SPDY headers: they are longer than ${blockBytesMax} bytes`);
    return parseHeaders(Buffer.concat(this.#parts));
  }

  [Symbol.dispose](): void {
    this.#inflate.destroy();
  }
}

function parseHeaders(text: Buffer): ReadonlyMap<string, string> {
  let at = 0;
  const number = (): number => text.readUInt32BE((at += 4) - 4);
  const string = (): string => {
    const length = number();
    if (at + length > text.length) throw new Error("Cannot read SPDY headers: a length exceeds the block");
    return text.toString("utf8", at, (at += length));
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left--) headers.set(string().toLowerCase(), string());
  return headers;
}

/** Writes blocks without headers: a port-forward's replies have none. */
export class EmptyHeaderWriter implements Disposable {
  readonly #deflate: Deflate = createDeflate({ dictionary: headerDictionary });
  #parts: Buffer[] = [];

  constructor() {
    this.#deflate.on("data", (part: Buffer) => this.#parts.push(part));
    this.#deflate.on("error", () => {});
  }

  /** Blocks must be written one after the other. */
  async write(): Promise<Buffer> {
    this.#parts = [];
    const noHeaders = Buffer.alloc(4);
    this.#deflate.write(noHeaders);
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    return Buffer.concat(this.#parts);
  }

  [Symbol.dispose](): void {
    this.#deflate.destroy();
  }
}
