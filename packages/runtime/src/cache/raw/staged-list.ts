import type { KubeObject } from "@setpoint/apimachinery";
import { ObjectScan, type Stored } from "@setpoint/client";
import { type Clock, TimeSlices } from "@setpoint/host";
import type { StagedObjects } from "../reflector-store.ts";
import { compareResourceVersions } from "../resource-version.ts";
import { type Store, storeKey } from "../store.ts";

/**
 * An object of the list: its staged bytes, the object itself where bytes could not be kept, or what the store
 * has already.
 */
type Staged = number | Stored<KubeObject> | "present";

/** What a staged list needs of its informer. */
export interface StagedListPorts {
  readonly clock: Clock;
  readonly store: Store;
  /** Whether the cluster was restored from a backup: then equal revisions mean nothing. */
  isRestored(this: void): boolean;
  /** What is stored of an object. */
  convert(this: void, bytes: Uint8Array): Uint8Array;
  decode(this: void, bytes: Uint8Array): Stored<KubeObject>;
  showRaw(this: void, key: string, slot: number): void;
  show(this: void, object: Stored<KubeObject>): void;
  drop(this: void, key: string): void;
}

/** A complete list that is being received: the store keeps its bytes already, under no key. */
export class StagedList implements StagedObjects {
  readonly #ports: StagedListPorts;
  readonly #scan = new ObjectScan();
  readonly #staged = new Map<string, Staged>();

  constructor(ports: StagedListPorts) {
    this.#ports = ports;
  }

  add(bytes: Uint8Array): void {
    const { store, convert, decode } = this.#ports;
    // Bytes in a form that no known server sends are kept as a decoded object.
    if (!this.#scan.scan(bytes)) return this.#addObject(decode(bytes));
    const key = this.#scan.key();
    if (this.#isPresent(key)) return this.#put(key, "present");
    const kept = convert(bytes);
    if (kept !== bytes && !this.#scan.scan(kept)) return this.#addObject(decode(kept));
    this.#put(key, store.stage(kept, this.#scan));
  }

  remove(bytes: Uint8Array): void {
    const key = this.#scan.scan(bytes) ? this.#scan.key() : storeKey(this.#ports.decode(bytes).metadata);
    this.#release(this.#staged.get(key));
    this.#staged.delete(key);
  }

  async commit(): Promise<void> {
    const { clock, store, showRaw, show, drop } = this.#ports;
    const slices = new TimeSlices(clock);
    const gone = [...store.keys()].filter((key) => !this.#staged.has(key));
    for (const [key, staged] of this.#staged) {
      // Shown bytes belong to the store, also when showing them throws or the list is discarded: they must
      // not be unstaged here.
      this.#staged.set(key, "present");
      if (typeof staged === "number") showRaw(key, staged);
      else if (staged !== "present") show(staged);
      if (slices.isOver()) await slices.pause();
    }
    for (const key of gone) {
      drop(key);
      if (slices.isOver()) await slices.pause();
    }
    this.#staged.clear();
  }

  discard(): void {
    for (const staged of this.#staged.values()) this.#release(staged);
    this.#staged.clear();
  }

  #addObject(object: Stored<KubeObject>): void {
    this.#put(storeKey(object.metadata), object);
  }

  /** A new list is mostly what was there before: it needs no memory for that. */
  #isPresent(key: string): boolean {
    const present = this.#ports.store.versionOf(key);
    return (
      !this.#ports.isRestored() &&
      present !== undefined &&
      present.uid === this.#scan.uidText() &&
      compareResourceVersions(this.#scan.resourceVersionText(), present.resourceVersion) <= 0
    );
  }

  #put(key: string, staged: Staged): void {
    this.#release(this.#staged.get(key));
    this.#staged.set(key, staged);
  }

  #release(staged: Staged | undefined): void {
    if (typeof staged === "number") this.#ports.store.unstage(staged);
  }
}
