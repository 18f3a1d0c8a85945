/** What a built-in kind adds to the strategy that all of them share. */
import type { Strategy } from "../resource-definition.ts";
import type { JsonObject } from "../json-fields.ts";

export interface KindStrategy extends Omit<Strategy, "setDefaults"> {
  /** Fills the defaults after the object got its Go zero values. */
  readonly defaults?: (object: JsonObject) => void;
}

/** Strategies by `group/Kind`. */
export type StrategyTable = Readonly<Record<string, KindStrategy>>;
