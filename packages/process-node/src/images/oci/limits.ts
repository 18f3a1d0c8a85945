import { refusal } from "./refusal.ts";

/** What an archive may hold, so that a damaged or hostile one cannot fill the disk or the memory. */
export interface ArchiveLimits {
  /** Files, folders and links of one archive or of one image over all its layers. */
  readonly entriesMax: number;
  /** Bytes of one archive, or of one image's unpacked layers. */
  readonly bytesMax: number;
  /** Bytes of one JSON document: an index, a manifest or a configuration. */
  readonly documentBytesMax: number;
  readonly layersMax: number;
  readonly imagesMax: number;
}

/** Several times of what the largest images in common use have. */
export const archiveLimits: ArchiveLimits = {
  entriesMax: 500_000,
  bytesMax: 20 * 1024 ** 3,
  documentBytesMax: 4 * 1024 ** 2,
  layersMax: 500,
  imagesMax: 100,
};

/** Counts what was unpacked, over several layers. */
export class ArchiveMeter {
  readonly #limits: ArchiveLimits;
  #entries = 0;
  #bytes = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  addEntry(): void {
    const { entriesMax } = this.#limits;
    if (++this.#entries > entriesMax) throw refusal(`expected at most ${entriesMax} entries`);
  }

  addBytes(bytes: number): void {
    const { bytesMax } = this.#limits;
    this.#bytes += bytes;
    if (this.#bytes > bytesMax) throw refusal(`expected at most ${bytesMax} bytes when unpacked`);
  }
}
