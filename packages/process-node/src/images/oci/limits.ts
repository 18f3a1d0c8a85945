import { entryRefusal } from "./entry-rules.ts";
import { refusal } from "./refusal.ts";

/**
 * What an archive may hold, so that a damaged or hostile one cannot fill the disk, the memory or the time.
 */
export interface ArchiveLimits {
  /**
   * Files, folders and links of one archive or of one image over all its layers, with the folders that are
   * made because a path or a link leads through them.
   */
  readonly entriesMax: number;
  /** Of the paths of all entries together, with links followed: they are kept in memory. */
  readonly pathBytesMax: number;
  /** Bytes of headers and records of a tar file, on top of those for each entry. */
  readonly headerBytesFree: number;
  readonly headerBytesPerEntry: number;
  /** Records that go before one entry, with those for all entries. */
  readonly paxRecordsMax: number;
  /** Bytes of one file. */
  readonly fileBytesMax: number;
  /** Bytes of one layer when it is unpacked. */
  readonly layerBytesMax: number;
  /** Bytes of one archive, or of one image's unpacked layers. */
  readonly bytesMax: number;
  /** Unpacked bytes for each packed one, of an archive or a layer larger than `ratioFreeBytes`. */
  readonly ratioMax: number;
  readonly ratioFreeBytes: number;
  /** Bytes of one JSON document: an index, a manifest or a configuration. */
  readonly documentBytesMax: number;
  /** How many of them are read: each may name others, also the same ones again and again. */
  readonly documentsMax: number;
  readonly layersMax: number;
  readonly imagesMax: number;
  /** Names of one image: each is a file with the image's configuration. */
  readonly namesMax: number;
  /** Of one load, without the wait for another one. */
  readonly loadMsMax: number;
}

const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

/**
 * Several times of what the largest images in common use have. How deep and how long paths may be is in
 * `host/tree-walk.ts`, because it holds for everything that looks into an image.
 */
export const archiveLimits: ArchiveLimits = {
  entriesMax: 1_000_000,
  pathBytesMax: 256 * mebibyte,
  headerBytesFree: 16 * mebibyte,
  headerBytesPerEntry: 8 * 1024,
  paxRecordsMax: 256,
  fileBytesMax: 16 * gibibyte,
  layerBytesMax: 32 * gibibyte,
  bytesMax: 64 * gibibyte,
  ratioMax: 500,
  ratioFreeBytes: 256 * mebibyte,
  documentBytesMax: 4 * mebibyte,
  documentsMax: 1_000,
  layersMax: 500,
  imagesMax: 100,
  namesMax: 100,
  loadMsMax: 3_600_000,
};

/** Counts what was unpacked, over several files. */
export class ArchiveMeter {
  readonly #limits: ArchiveLimits;
  #names = 0;
  #pathBytes = 0;
  #bytes = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  addEntry(path: string, size: number): void {
    const { fileBytesMax } = this.#limits;
    this.addName();
    if (size > fileBytesMax) throw entryRefusal(path, `has ${size} bytes: expected at most ${fileBytesMax} for a file`);
  }

  /** An entry, or a folder that is made for one. */
  addName(): void {
    const { entriesMax } = this.#limits;
    if (++this.#names > entriesMax) throw refusal(`expected at most ${entriesMax} entries`);
  }

  /** Where an entry is written: a few letters in the archive may be a long path behind a link. */
  addPath(path: string): void {
    const { pathBytesMax } = this.#limits;
    this.#pathBytes += Buffer.byteLength(path);
    if (this.#pathBytes > pathBytesMax) throw refusal(`expected paths of at most ${pathBytesMax} bytes together`);
  }

  /** For one compressed file that unpacks to at most `bytesMax`. */
  stream(bytesMax: number): StreamMeter {
    return new StreamMeter(this.#limits, bytesMax, (bytes) => this.#addBytes(bytes));
  }

  #addBytes(bytes: number): void {
    const { bytesMax } = this.#limits;
    this.#bytes += bytes;
    if (this.#bytes > bytesMax) throw refusal(`expected at most ${bytesMax} bytes when unpacked`);
  }
}

/** Compares what was read of one compressed file with what came out. */
export class StreamMeter {
  readonly #limits: ArchiveLimits;
  readonly #bytesMax: number;
  readonly #onBytes: (bytes: number) => void;
  #packed = 0;
  #unpacked = 0;

  constructor(limits: ArchiveLimits, bytesMax: number, onBytes: (bytes: number) => void) {
    this.#limits = limits;
    this.#bytesMax = bytesMax;
    this.#onBytes = onBytes;
  }

  addPacked(bytes: number): void {
    this.#packed += bytes;
  }

  addUnpacked(bytes: number): void {
    const { ratioMax, ratioFreeBytes } = this.#limits;
    this.#unpacked += bytes;
    this.#onBytes(bytes);
    if (this.#unpacked > this.#bytesMax) throw refusal(`expected at most ${this.#bytesMax} bytes in an unpacked layer`);
    if (this.#unpacked > ratioFreeBytes && this.#unpacked > this.#packed * ratioMax)
      throw refusal(`${this.#packed} bytes unpack to ${this.#unpacked}: expected at most ${ratioMax} bytes for each`);
  }
}
