/**
 * The initial contents of storages. Storages of one process with the same initial contents, such as thousands
 * of simulated worlds, share them by prefix until they write to it.
 */
import { deepFreeze, type UnstructuredObject } from "@setpoint/apimachinery";
import type { StorageContents } from "./storage.ts";

/** The objects of one prefix. */
export interface PrefixContents {
  readonly objects: ReadonlyMap<string, UnstructuredObject>;
  /** In order. */
  readonly paths: readonly string[];
  /** The objects, in the order of their paths. */
  readonly all: readonly UnstructuredObject[];
}

/** The contents by prefix. */
export function byPrefix({ entries }: StorageContents): ReadonlyMap<string, PrefixContents> {
  const prefixes = new Map<string, PrefixContents>();
  for (const [prefix, held] of Map.groupBy(entries, (each) => each.prefix)) {
    const objects = new Map(held.map(({ path, object }) => [path, deepFreeze(object)]));
    const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
    prefixes.set(prefix, { objects, paths: sorted.map(([path]) => path), all: sorted.map(([, object]) => object) });
  }
  return prefixes;
}
