import type { Header } from "tar-stream";
import { entryRefusal } from "./entry-rules.ts";
import type { ArchiveLimits } from "./limits.ts";
import { refusal } from "./refusal.ts";

const blockBytes = 512;

/**
 * Bounds what a tar file has beside the content of its entries. Records that go before an entry are no
 * entries, take much longer to read than content does, and compress to almost nothing.
 */
export class TarOverhead {
  readonly #limits: ArchiveLimits;
  #bytes = 0;
  #content = 0;
  #entries = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  addBytes(bytes: number): void {
    const { headerBytesFree, headerBytesPerEntry } = this.#limits;
    this.#bytes += bytes;
    const allowed = headerBytesFree + this.#entries * headerBytesPerEntry;
    if (this.#bytes - this.#content <= allowed) return;
    throw refusal(`expected at most ${allowed} bytes of headers for ${this.#entries} entries`);
  }

  /** Before its content is read. */
  addEntry({ name, type, size, pax }: Header): void {
    const { paxRecordsMax } = this.#limits;
    this.#entries++;
    if (type !== "directory") this.#content += Math.ceil(size / blockBytes) * blockBytes;
    const records = Object.keys(pax ?? {}).length;
    if (records > paxRecordsMax) throw entryRefusal(name, `has ${records} records: expected at most ${paxRecordsMax}`);
  }
}
