import type { BytePacker } from "@setpoint/host";

/** The first slab of a store, doubled up to the largest: a kind with three objects should not take much. */
const slabBytesFirst = 8 * 1024;
/** Large enough to pack well, small enough that unpacking one for a single object is 50 µs. */
const slabBytesMax = 64 * 1024;
/** What of a store stays as it is, the slabs that were used last; the rest is packed. */
const unpackedBytesMax = 4 * 1024 * 1024;
/**
 * Buffers of packed slabs that wait for the next one. Slabs are filled and unpacked one after the other: two
 * buffers are enough.
 */
const spareBuffersMax = 2;

/** A piece of memory that is filled once, from its beginning, and never changed. */
export interface Slab {
  readonly size: number;
  used: number;
  /** Bytes of objects that are still there. */
  live: number;
  bytes: Uint8Array | undefined;
  packed: Uint8Array | undefined;
}

/**
 * Memory for bytes that come and go. Most objects of a large kind are not looked at for hours: their slabs
 * are packed, to a tenth or less of JSON, and the few that are in use stay as they are.
 */
export class Slabs {
  readonly #packer: BytePacker | undefined;
  /** Slabs with bytes, the one that was used last at the end. */
  readonly #unpacked = new Set<Slab>();
  readonly #spare: Uint8Array[] = [];
  #unpackedBytes = 0;
  #packedBytes = 0;
  #current: Slab | undefined;
  /** The end of the line: most reads follow another of the same slab. */
  #last: Slab | undefined;
  #nextBytes = slabBytesFirst;

  constructor(packer: BytePacker | undefined) {
    this.#packer = packer;
  }

  /** The memory that is taken now. */
  get bytes(): number {
    return this.#unpackedBytes + this.#packedBytes;
  }

  /** The slab that takes the next bytes; write them at `used`. */
  withRoomFor(length: number): Slab {
    const current = this.#current;
    if (current !== undefined && current.size - current.used >= length) return current;
    const size = Math.max(this.#nextBytes, length);
    this.#nextBytes = Math.min(this.#nextBytes * 2, slabBytesMax);
    const slab: Slab = { size, used: 0, live: 0, bytes: this.#buffer(size), packed: undefined };
    this.#current = slab;
    this.#add(slab);
    if (current?.live === 0) this.drop(current);
    return slab;
  }

  isCurrent(slab: Slab): boolean {
    return slab === this.#current;
  }

  /** Its bytes, until the next call of any method. */
  read(slab: Slab): Uint8Array {
    const { bytes } = slab;
    if (bytes === undefined) return this.#unpack(slab);
    // To the end of the line, unless it is there; not those that were given up and are read once more.
    if (this.#packer !== undefined && slab !== this.#last && this.#unpacked.delete(slab)) this.#append(slab);
    return bytes;
  }

  /** Frees it. A caller that still holds it can read it. */
  drop(slab: Slab): void {
    if (this.#unpacked.delete(slab)) this.#unpackedBytes -= slab.size;
    this.#packedBytes -= slab.packed?.length ?? 0;
  }

  #unpack(slab: Slab): Uint8Array {
    if (this.#packer === undefined || slab.packed === undefined) throw new Error("a slab has lost its bytes");
    const bytes = this.#buffer(slab.size);
    this.#packer.unpack(slab.packed, bytes.subarray(0, slab.used));
    slab.bytes = bytes;
    this.#add(slab);
    return bytes;
  }

  #add(slab: Slab): void {
    this.#append(slab);
    this.#unpackedBytes += slab.size;
    if (this.#packer === undefined) return;
    for (const each of this.#unpacked) {
      if (this.#unpackedBytes <= unpackedBytesMax) return;
      if (each !== this.#current && each !== slab) this.#pack(each, this.#packer);
    }
  }

  #append(slab: Slab): void {
    this.#unpacked.add(slab);
    this.#last = slab;
  }

  /** What a buffer held before is never read: a slab is read as far as it is filled. */
  #buffer(size: number): Uint8Array {
    return (size === slabBytesMax ? this.#spare.pop() : undefined) ?? new Uint8Array(size);
  }

  #pack(slab: Slab, packer: BytePacker): void {
    if (slab.packed === undefined && slab.bytes !== undefined) {
      slab.packed = packer.pack(slab.bytes.subarray(0, slab.used));
      this.#packedBytes += slab.packed.length;
    }
    if (slab.bytes?.length === slabBytesMax && this.#spare.length < spareBuffersMax) this.#spare.push(slab.bytes);
    slab.bytes = undefined;
    this.#unpacked.delete(slab);
    this.#unpackedBytes -= slab.size;
  }
}
