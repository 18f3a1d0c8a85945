/** Where fields of an object are, and what their values are taken from. */
import type { Assets } from "../generate/assets.ts";
import { ConfigurationRefused } from "../generate/generation.ts";
import type { Version } from "../generate/version.ts";
import type { KeySelector } from "../kind/references.ts";

export interface Place {
  readonly namespace: string;
  readonly assets: Assets;
  readonly version: Version;
  /** The path of the field. */
  readonly path: string;
}

export function at(place: Place, name: string): Place {
  return { ...place, path: `${place.path}.${name}` };
}

export function refuseAt({ path }: Place, message: string): ConfigurationRefused {
  return new ConfigurationRefused(path, message);
}

/** The value of a key; one that does not exist refuses the object. */
export function secretOf(place: Place, selector: KeySelector): string {
  const value = place.assets.secret(place.namespace, selector);
  if (value !== undefined) return value;
  const { name = "", key } = selector;
  throw refuseAt(place, `key "${key}" of Secret "${place.namespace}/${name}" does not exist; create it`);
}
