import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/**
 * JSON bytes of the objects that one generation keeps decoded: a few times what all workers read, little
 * enough to die young.
 */
const generationBytesMax = 128 * 1024;

/**
 * The objects that were decoded lately, so that a reconcile that reads one several times decodes it once. Two
 * generations: what is decoded goes to the young one; when that is full it becomes the old one, and what was
 * old is forgotten, however often it was read.
 */
export class DecodedObjects {
  #young = new Map<number, Stored<KubeObject>>();
  #old = new Map<number, Stored<KubeObject>>();
  #youngBytes = 0;

  get(slot: number): Stored<KubeObject> | undefined {
    return this.#young.get(slot) ?? this.#old.get(slot);
  }

  add(slot: number, object: Stored<KubeObject>, bytes: number): void {
    this.#youngBytes += bytes;
    if (this.#youngBytes > generationBytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = bytes;
    }
    this.#young.set(slot, object);
  }

  delete(slot: number): void {
    this.#young.delete(slot);
    this.#old.delete(slot);
  }
}
