/**
 * Objects as bytes. A tree of JavaScript values takes two to three times its JSON and is walked by every
 * collection of garbage; bytes in slabs take what they are, or less, and the garbage collector never looks at
 * them.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import { decodeJson } from "@setpoint/apimachinery";
import type { ObjectScan, Stored } from "@setpoint/client";
import type { BytePacker } from "@setpoint/host";
import { decodeObject } from "./decode-object.ts";
import { type Slab, Slabs } from "./slabs.ts";

/** A slab of which less than this share is in use is emptied into the present one. */
const liveShareMin = 0.5;
/**
 * Numbers kept of an object: its place in its slab, the places of its metadata, UID and revision within it,
 * owners or not.
 */
const columns = 7;

/** Where an object is. Slabs never change, so a place stays readable after its object has gone. */
export interface RawPlace {
  readonly slab: Slab;
  readonly start: number;
  readonly end: number;
  readonly metadataStart: number;
  readonly metadataEnd: number;
}

/** Fields of an object's type, which items of a typed list lack. */
export interface TypeFields {
  readonly apiVersion: string;
  readonly kind: string;
}

const decoder = new TextDecoder();

/** Rows of the first table. */
const rowsMin = 64;

export class RawObjects {
  readonly #type: TypeFields;
  readonly #slabs: Slabs;
  readonly #slabOf: (Slab | undefined)[] = [];
  /** Empty until there is an object: objects of a server in the same process do not come as bytes. */
  #table: Int32Array = new Int32Array(0);
  #liveBytes = 0;
  readonly #freeSlots: number[] = [];

  constructor(type: TypeFields, packer: BytePacker | undefined) {
    this.#type = type;
    this.#slabs = new Slabs(packer);
  }

  /** Bytes of the objects that are there. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** The memory that they take. */
  get keptBytes(): number {
    return this.#slabs.bytes + this.#table.byteLength;
  }

  /** Copies an object without its managed fields; `scan` has just read it. */
  add(bytes: Uint8Array, scan: ObjectScan): number {
    const { managedFields, metadata, uid, resourceVersion } = scan;
    const cut = managedFields.end === 0 ? 0 : managedFields.end - managedFields.start;
    const slab = this.#slabs.withRoomFor(bytes.length - cut);
    const start = slab.used;
    if (cut === 0) this.#append(slab, bytes);
    else {
      this.#append(slab, bytes.subarray(0, managedFields.start));
      this.#append(slab, bytes.subarray(managedFields.end));
    }
    const after = (at: number): number => (cut > 0 && at >= managedFields.end ? at - cut : at);
    const slot = this.#newSlot(slab);
    const table = this.#table;
    const row = slot * columns;
    table[row] = start;
    table[row + 1] = bytes.length - cut;
    table[row + 2] = metadata.start;
    table[row + 3] = metadata.end - cut;
    table[row + 4] = after(uid.start);
    table[row + 5] = after(resourceVersion.start);
    table[row + 6] = scan.hasOwners ? 1 : 0;
    this.#liveBytes += bytes.length - cut;
    return slot;
  }

  release(slot: number): void {
    const slab = this.#slab(slot);
    const length = this.length(slot);
    this.#slabOf[slot] = undefined;
    this.#freeSlots.push(slot);
    this.#liveBytes -= length;
    slab.live -= length;
    if (this.#slabs.isCurrent(slab)) return;
    if (slab.live === 0) this.#slabs.drop(slab);
    else if (slab.live < slab.size * liveShareMin) this.#empty(slab);
  }

  place(slot: number): RawPlace {
    const start = this.#at(slot, 0);
    return {
      slab: this.#slab(slot),
      start,
      end: start + this.#at(slot, 1),
      metadataStart: start + this.#at(slot, 2),
      metadataEnd: start + this.#at(slot, 3),
    };
  }

  length(slot: number): number {
    return this.#at(slot, 1);
  }

  hasOwners(slot: number): boolean {
    return this.#at(slot, 6) === 1;
  }

  decode({ slab, start, end }: RawPlace): Stored<KubeObject> {
    const object = decodeObject(this.#slabs.read(slab).subarray(start, end));
    return (object.kind as string | undefined) === undefined ? { ...this.#type, ...object } : object;
  }

  decodeMetadata({ slab, metadataStart, metadataEnd }: RawPlace): Stored<KubeObject>["metadata"] {
    const text = decoder.decode(this.#slabs.read(slab).subarray(metadataStart, metadataEnd));
    return decodeJson(text) as Stored<KubeObject>["metadata"];
  }

  uid(slot: number): string {
    return this.#stringAt(slot, 4);
  }

  resourceVersion(slot: number): string {
    return this.#stringAt(slot, 5);
  }

  /** The text up to the next quote; neither UIDs nor revisions have one within. */
  #stringAt(slot: number, column: number): string {
    const bytes = this.#slabs.read(this.#slab(slot));
    const start = this.#at(slot, 0) + this.#at(slot, column);
    return decoder.decode(bytes.subarray(start, bytes.indexOf(0x22, start)));
  }

  #append(slab: Slab, bytes: Uint8Array): void {
    slab.bytes?.set(bytes, slab.used);
    slab.used += bytes.length;
    slab.live += bytes.length;
  }

  /**
   * Moves the objects of a slab into the present one; the slab itself goes when nobody reads from it any
   * more.
   */
  #empty(slab: Slab): void {
    // A copy: a slab that takes some of them may be given the buffer of one that is packed meanwhile.
    const from = this.#slabs.read(slab).slice();
    for (let slot = 0; slot < this.#slabOf.length; slot++) {
      if (this.#slabOf[slot] !== slab) continue;
      const [start, length] = [this.#at(slot, 0), this.#at(slot, 1)];
      const target = this.#slabs.withRoomFor(length);
      this.#slabOf[slot] = target;
      this.#table[slot * columns] = target.used;
      this.#append(target, from.subarray(start, start + length));
    }
    this.#slabs.drop(slab);
  }

  #newSlot(slab: Slab): number {
    const slot = this.#freeSlots.pop() ?? this.#slabOf.length;
    this.#slabOf[slot] = slab;
    if ((slot + 1) * columns <= this.#table.length) return slot;
    const grown = new Int32Array(Math.max(rowsMin, Math.ceil((slot + 1) * 1.5)) * columns);
    grown.set(this.#table);
    this.#table = grown;
    return slot;
  }

  #at(slot: number, column: number): number {
    return this.#table[slot * columns + column] ?? 0;
  }

  #slab(slot: number): Slab {
    const slab = this.#slabOf[slot];
    if (slab === undefined) throw new Error(`the bytes of slot ${slot} have been released, expected a slot in use`);
    return slab;
  }
}
