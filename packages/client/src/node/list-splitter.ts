/**
 * Cuts the bytes of a list into its items without parsing them: only strings and brackets are looked at,
 * once. A list of hundreds of megabytes so never exists as one text or as a tree of values.
 */
import { decodeJson, SetpointError } from "@setpoint/apimachinery";

/** An object may have 1.5 MiB in etcd and a little more as JSON; a longer item is no object. */
export const rawItemBytesMax: number = 32 * 1024 * 1024;
/** What stands around the items: kind, revision, continue token. */
const envelopeBytesMax = 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
/** `[` and `{` differ in one bit from each other, and so do `]` and `}`. */
const bracketMask = 0xdf;
const open = 0x5b;
const close = 0x5d;

const itemsBegin = /"items"\s*:\s*(\[|null)/;

/** What a list says about itself. */
export interface RawListHead {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
}

export class ListSplitter {
  #phase: "before" | "items" | "after" = "before";
  #envelope = "";
  /** The beginning of an item whose end has not come yet. */
  #begun: Uint8Array[] = [];
  #begunBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /**
   * The items that end in this chunk, as views of it where they lie in one piece: they hold until the chunk
   * is reused.
   */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    switch (this.#phase) {
      case "before":
        return this.#readHead(chunk);
      case "items":
        return this.#readItems(chunk, 0);
      case "after":
        this.#addEnvelope(chunk, 0);
        return [];
    }
  }

  /** The list without its items; call it after the last chunk. Throws when the bytes are not a whole list. */
  end(): RawListHead {
    if (this.#phase === "items") throw notAList("it ends within its items");
    // The parsing border: the envelope of a list has at most these fields of these types.
    return { metadata: {}, ...(decodeJson(this.#envelope) as Partial<RawListHead>) };
  }

  #readHead(chunk: Uint8Array): readonly Uint8Array[] {
    const lengthBefore = this.#envelope.length;
    this.#addEnvelope(chunk, 0);
    const found = itemsBegin.exec(this.#envelope);
    if (found === null) return [];
    const end = found.index + found[0].length;
    // The envelope is kept one byte a character, so that places in it are places in the chunk.
    this.#envelope = this.#envelope.slice(0, end);
    if (found[1] === "null") {
      this.#phase = "after";
      this.#addEnvelope(chunk, end - lengthBefore);
      return [];
    }
    this.#phase = "items";
    return this.#readItems(chunk, end - lengthBefore);
  }

  #readItems(chunk: Uint8Array, from: number): readonly Uint8Array[] {
    const items: Uint8Array[] = [];
    const length = chunk.length;
    let depth = this.#depth;
    let isInString = this.#isInString;
    let start = from;
    let i = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      i++;
    }
    while (i < length) {
      if (isInString) {
        let byte = 0;
        while (i < length && (byte = chunk[i] ?? 0) !== quote && byte !== backslash) i++;
        if (i >= length) break;
        i += byte === backslash ? 2 : 1;
        if (byte === quote) isInString = false;
        continue;
      }
      const byte = chunk[i++] ?? 0;
      if (byte === quote) isInString = true;
      else if ((byte & bracketMask) === open) {
        if (depth++ === 0) start = i - 1;
      } else if ((byte & bracketMask) === close) {
        if (depth === 0) return this.#endItems(chunk, i - 1, items);
        if (--depth === 0) items.push(this.#item(chunk, start, i));
      }
    }
    this.#isEscaped = i > length;
    this.#depth = depth;
    this.#isInString = isInString;
    if (depth > 0) this.#keep(chunk.slice(start));
    return items;
  }

  #item(chunk: Uint8Array, start: number, end: number): Uint8Array {
    if (this.#begun.length === 0) return chunk.subarray(start, end);
    // Its beginning came with an earlier chunk, so here it goes on from the first byte.
    const parts = [...this.#begun, chunk.subarray(0, end)];
    this.#begun = [];
    const whole = new Uint8Array(this.#begunBytes + end);
    this.#begunBytes = 0;
    let offset = 0;
    for (const part of parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    return whole;
  }

  #keep(bytes: Uint8Array): void {
    this.#begun.push(bytes);
    this.#begunBytes += bytes.length;
    if (this.#begunBytes > rawItemBytesMax) throw notAList(`an item is longer than ${rawItemBytesMax} bytes`);
  }

  #endItems(chunk: Uint8Array, end: number, items: readonly Uint8Array[]): readonly Uint8Array[] {
    this.#phase = "after";
    this.#addEnvelope(chunk, end);
    return items;
  }

  #addEnvelope(chunk: Uint8Array, from: number): void {
    this.#envelope += Buffer.from(chunk.buffer, chunk.byteOffset + from, chunk.length - from).toString("latin1");
    if (this.#phase === "after" && this.#envelope.length > envelopeBytesMax)
      throw notAList(`what surrounds its items is longer than ${envelopeBytesMax} bytes`);
  }
}

function notAList(why: string): SetpointError {
  return new SetpointError("ERR_UNEXPECTED_ANSWER", `Cannot read a list: ${why}, expected one JSON object with items`);
}
