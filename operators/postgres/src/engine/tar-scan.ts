/** Reads a tar archive (POSIX ustar) as it streams by, and holds no file in memory. */
import { InvalidSnapshotError } from "@setpoint/data-service/agent";

const blockBytes = 512;
const fields = { name: [0, 100], size: [124, 136], type: [156, 157], magic: [257, 262], prefix: [345, 500] } as const;

/** What a reader learns of each file, in the order of the archive. */
export interface TarReader {
  begin(path: string, bytes: number): void;
  data(piece: Uint8Array): void;
  end(): void;
}

export class TarScan {
  readonly #reader: TarReader;
  #header = Buffer.alloc(0);
  /** Of the present file: its bytes, and the zeros behind them up to a whole block. */
  #dataLeft = 0;
  #paddingLeft = 0;
  #isFile = false;
  #hasEnded = false;

  constructor(reader: TarReader) {
    this.#reader = reader;
  }

  push(piece: Uint8Array): void {
    let rest = piece;
    while (rest.length > 0) rest = this.#hasEnded ? rest.subarray(rest.length) : this.#take(rest);
  }

  /** Throws when the archive is cut off. */
  finish(): void {
    if (!this.#hasEnded) throw new InvalidSnapshotError("the archive of the base backup is cut off");
  }

  #take(piece: Uint8Array): Uint8Array {
    if (this.#dataLeft > 0) {
      const data = piece.subarray(0, this.#dataLeft);
      if (this.#isFile) this.#reader.data(data);
      this.#dataLeft -= data.length;
      if (this.#dataLeft === 0 && this.#isFile) this.#reader.end();
      return piece.subarray(data.length);
    }
    if (this.#paddingLeft > 0) {
      const padding = Math.min(this.#paddingLeft, piece.length);
      this.#paddingLeft -= padding;
      return piece.subarray(padding);
    }
    const part = piece.subarray(0, blockBytes - this.#header.length);
    this.#header = Buffer.concat([this.#header, part]);
    if (this.#header.length === blockBytes) this.#open();
    return piece.subarray(part.length);
  }

  #open(): void {
    const header = this.#header;
    this.#header = Buffer.alloc(0);
    if (header.every((byte) => byte === 0)) {
      this.#hasEnded = true;
      return;
    }
    if (textOf(header, "magic") !== "ustar") throw new InvalidSnapshotError("the base backup is no tar archive");
    const type = textOf(header, "type");
    this.#isFile = type === "0" || type === "";
    this.#dataLeft = this.#isFile ? sizeOf(header) : 0;
    this.#paddingLeft = (blockBytes - (this.#dataLeft % blockBytes)) % blockBytes;
    if (!this.#isFile) return;
    const prefix = textOf(header, "prefix");
    const name = textOf(header, "name");
    this.#reader.begin(prefix === "" ? name : `${prefix}/${name}`, this.#dataLeft);
    if (this.#dataLeft === 0) this.#reader.end();
  }
}

function textOf(header: Buffer, field: keyof typeof fields): string {
  const [from, to] = fields[field];
  const text = header.toString("utf8", from, to);
  const end = text.indexOf("\0");
  return end === -1 ? text : text.slice(0, end);
}

/** In octal digits. In files of 8 GiB and more the first bit is set, and the rest is the number. */
function sizeOf(header: Buffer): number {
  const [from, to] = fields.size;
  const bytes = header.subarray(from, to);
  if (((bytes[0] ?? 0) & 0x80) !== 0) return Number(bytes.readBigUInt64BE(bytes.length - 8));
  const size = Number.parseInt(textOf(header, "size").trim(), 8);
  if (Number.isNaN(size)) throw new InvalidSnapshotError("a file of the base backup has no size");
  return size;
}
