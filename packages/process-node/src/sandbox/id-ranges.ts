/** Each pod's own range of user and group ids on the host, kept for the life of the pod. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { IdRange } from "../host/id-range.ts";
import { nodeError } from "../errors.ts";
import { readJson, writeJson } from "../host/json-file.ts";

/**
 * Far above the ids of accounts and of /etc/subuid, and below 2^31, beyond which some programs misread ids.
 */
const firstId = 0x7000_0000;
const rangeSize = 65_536;
const rangesMax = 4_096;

/** Ranges of one node. Nodes of one machine begin at different places, which depend on their folders. */
export class IdRanges {
  readonly #file: string;
  readonly #first: number;
  readonly #indexes: Map<string, number>;

  constructor(file: string) {
    this.#file = file;
    this.#first = createHash("sha256").update(resolve(file)).digest().readUInt16BE(0) % rangesMax;
    this.#indexes = new Map(readIndexes(file));
  }

  /** The same one whenever it is asked, also after a restart of the agent. */
  rangeOf(podUid: string): IdRange {
    const index = this.#indexes.get(podUid) ?? this.#claim(podUid);
    return { container: 0, host: firstId + index * rangeSize, size: rangeSize };
  }

  release(podUid: string): void {
    if (this.#indexes.delete(podUid)) this.#save();
  }

  #claim(podUid: string): number {
    const taken = new Set(this.#indexes.values());
    for (let i = 0; i < rangesMax; i++) {
      const index = (this.#first + i) % rangesMax;
      if (taken.has(index)) continue;
      this.#indexes.set(podUid, index);
      this.#save();
      return index;
    }
    throw nodeError("ERR_CONTAINER_START", `Cannot start pod: all ${rangesMax} ranges of user ids are in use`);
  }

  #save(): void {
    writeJson(this.#file, [...this.#indexes]);
  }
}

function readIndexes(file: string): readonly (readonly [string, number])[] {
  const value = readJson(file);
  const isEntry = (entry: unknown): entry is [string, number] =>
    Array.isArray(entry) && typeof entry[0] === "string" && Number.isInteger(entry[1]);
  return Array.isArray(value) ? value.filter(isEntry) : [];
}
