/**
 * Objects as bytes. A tree of JavaScript values takes two to three times its JSON and is walked by every collection of garbage;
 * bytes in a few large buffers take what they are, and the garbage collector never looks at them.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import type { ObjectScan, Stored } from "@setpoint/client";

/** The first buffer of a store, doubled up to the largest: a kind with three objects should not take a megabyte. */
const slabBytesFirst = 16 * 1024;
const slabBytesMax = 1024 * 1024;
/** A buffer of which less than this share is in use is emptied into the present one. */
const liveShareMin = 0.5;
/** Numbers kept of an object: its slab, its place there, the places of its metadata, UID and revision within it, owners or not. */
const columns = 8;

interface Slab {
  readonly bytes: Uint8Array;
  used: number;
  live: number;
}

/** Where an object is. Bytes that were written never change, so a place stays readable after its object has gone. */
export interface RawPlace {
  readonly bytes: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Fields of an object's type, which items of a typed list lack. */
export interface TypeFields {
  readonly apiVersion: string;
  readonly kind: string;
}

const decoder = new TextDecoder();

export class RawObjects {
  readonly #type: TypeFields;
  readonly #slabs: (Slab | undefined)[] = [];
  #current = -1;
  #nextSlabBytes = slabBytesFirst;
  #table: Int32Array = new Int32Array(columns * 64);
  #slotCount = 0;
  #liveBytes = 0;
  readonly #freeSlots: number[] = [];

  constructor(type: TypeFields) {
    this.#type = type;
  }

  /** Bytes of the objects that are there. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Copies an object without its managed fields; `scan` has just read it. */
  add(bytes: Uint8Array, scan: ObjectScan): number {
    const { managedFields, metadata, uid, resourceVersion } = scan;
    const cut = managedFields.end === 0 ? 0 : managedFields.end - managedFields.start;
    const length = bytes.length - cut;
    const slabNumber = this.#slabFor(length);
    const slab = this.#slab(slabNumber);
    const offset = slab.used;
    if (cut === 0) slab.bytes.set(bytes, offset);
    else {
      slab.bytes.set(bytes.subarray(0, managedFields.start), offset);
      slab.bytes.set(bytes.subarray(managedFields.end), offset + managedFields.start);
    }
    slab.used += length;
    const after = (at: number): number => (cut > 0 && at >= managedFields.end ? at - cut : at);
    const slot = this.#newSlot();
    const table = this.#table;
    const row = slot * columns;
    table[row] = slabNumber;
    table[row + 1] = offset;
    table[row + 2] = length;
    table[row + 3] = metadata.start;
    table[row + 4] = metadata.end - cut;
    table[row + 5] = after(uid.start);
    table[row + 6] = after(resourceVersion.start);
    table[row + 7] = scan.hasOwners ? 1 : 0;
    slab.live += length;
    this.#liveBytes += length;
    return slot;
  }

  release(slot: number): void {
    const row = slot * columns;
    const slabNumber = this.#at(row);
    const length = this.#at(row + 2);
    const slab = this.#slab(slabNumber);
    slab.live -= length;
    this.#liveBytes -= length;
    this.#table[row] = -1;
    this.#freeSlots.push(slot);
    if (slabNumber === this.#current) return;
    if (slab.live === 0) this.#slabs[slabNumber] = undefined;
    else if (slab.live < slab.bytes.length * liveShareMin) this.#empty(slabNumber);
  }

  place(slot: number): RawPlace {
    const row = slot * columns;
    const { bytes } = this.#slab(this.#at(row));
    const offset = this.#at(row + 1);
    return {
      bytes: bytes.subarray(offset, offset + this.#at(row + 2)),
      metadata: bytes.subarray(offset + this.#at(row + 3), offset + this.#at(row + 4)),
    };
  }

  length(slot: number): number {
    return this.#at(slot * columns + 2);
  }

  hasOwners(slot: number): boolean {
    return this.#at(slot * columns + 7) === 1;
  }

  decode({ bytes }: RawPlace): Stored<KubeObject> {
    // The parsing border: the server's objects of a kind have the kind's type.
    const object = JSON.parse(decoder.decode(bytes)) as Stored<KubeObject>;
    return (object.kind as string | undefined) === undefined ? { ...this.#type, ...object } : object;
  }

  decodeMetadata({ metadata }: RawPlace): Stored<KubeObject>["metadata"] {
    return JSON.parse(decoder.decode(metadata)) as Stored<KubeObject>["metadata"];
  }

  uid(slot: number): string {
    return this.#stringAt(slot, 5);
  }

  resourceVersion(slot: number): string {
    return this.#stringAt(slot, 6);
  }

  /** The text up to the next quote; neither UIDs nor revisions have one within. */
  #stringAt(slot: number, column: number): string {
    const row = slot * columns;
    const { bytes } = this.#slab(this.#at(row));
    const start = this.#at(row + 1) + this.#at(row + column);
    return decoder.decode(bytes.subarray(start, bytes.indexOf(0x22, start)));
  }

  #slabFor(length: number): number {
    const current = this.#slabs[this.#current];
    if (current !== undefined && current.bytes.length - current.used >= length) return this.#current;
    const size = Math.max(this.#nextSlabBytes, length);
    this.#nextSlabBytes = Math.min(this.#nextSlabBytes * 2, slabBytesMax);
    const slab = { bytes: new Uint8Array(size), used: 0, live: 0 };
    const before = this.#current;
    const free = this.#slabs.indexOf(undefined);
    this.#current = free === -1 ? this.#slabs.push(slab) - 1 : free;
    this.#slabs[this.#current] = slab;
    if (current?.live === 0) this.#slabs[before] = undefined;
    return this.#current;
  }

  /** Moves the objects of a slab into the present one; the slab itself goes when nobody reads from it any more. */
  #empty(slabNumber: number): void {
    const from = this.#slab(slabNumber).bytes;
    for (let slot = 0; slot < this.#slotCount; slot++) {
      const row = slot * columns;
      if (this.#table[row] !== slabNumber) continue;
      const [offset, length] = [this.#at(row + 1), this.#at(row + 2)];
      const target = this.#slabFor(length);
      const slab = this.#slab(target);
      slab.bytes.set(from.subarray(offset, offset + length), slab.used);
      this.#table[row] = target;
      this.#table[row + 1] = slab.used;
      slab.used += length;
      slab.live += length;
    }
    this.#slabs[slabNumber] = undefined;
  }

  #newSlot(): number {
    const free = this.#freeSlots.pop();
    if (free !== undefined) return free;
    if ((this.#slotCount + 1) * columns > this.#table.length) {
      const grown = new Int32Array(Math.ceil(this.#table.length * 1.5));
      grown.set(this.#table);
      this.#table = grown;
    }
    return this.#slotCount++;
  }

  #at(index: number): number {
    return this.#table[index] ?? 0;
  }

  #slab(number: number): Slab {
    const slab = this.#slabs[number];
    if (slab === undefined) throw new Error(`slab ${number} has been given up, wanted one with objects`);
    return slab;
  }
}
