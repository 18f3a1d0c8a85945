/**
 * Parses YAML 1.1, as the API does. It runs in a worker thread for all but short texts, so it imports no
 * server code.
 */
import {
  type Document,
  isMap,
  isScalar,
  type LineCounter,
  LineCounter as Lines,
  parseDocument,
  type Scalar,
  visit,
} from "yaml";
import { goTags } from "./yaml-tags.ts";

export interface ParsedYaml {
  readonly value: unknown;
  /** Duplicate keys of the text, as upstream's messages; the last value wins. */
  readonly duplicates: readonly string[];
}

/** How often the aliases of a text may be followed. */
const aliasesMax = 100;
/** Duplicates that are reported. */
const duplicatesMax = 100;

/** Reads the first document. Throws an Error that names the problem in the text. */
export function parseYaml(source: string): ParsedYaml {
  const lineCounter = new Lines();
  // The library compares each key with each other one.
  const settings = { version: "1.1", uniqueKeys: false, merge: true, intAsBigInt: true, lineCounter } as const;
  const document = parseDocument(source, { ...settings, customTags: goTags });
  const fault = document.errors.find(({ code }) => code !== "MULTIPLE_DOCS");
  if (fault !== undefined) throw new Error(fault.message);
  const duplicates = duplicatesOf(document, lineCounter);
  setNumbers(document);
  return { value: document.toJS({ maxAliasCount: aliasesMax }), duplicates };
}

function setNumbers(document: Document): void {
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === "bigint") scalar.value = integerOf(scalar.value);
      else if (typeof scalar.value === "number" && !Number.isFinite(scalar.value))
        setBeyondFloats(scalar, scalar.value);
    },
  });
}

/** An integer is a `bigint` only if a number may not hold it exactly; beyond int64 it is a float. */
function integerOf(integer: bigint): number | bigint {
  const number = Number(integer);
  return Number.isSafeInteger(number) || BigInt.asIntN(64, integer) !== integer ? number : integer;
}

/** `1e400` is a text, and `.inf` has no JSON. */
function setBeyondFloats(scalar: Scalar, value: number): void {
  const { source = "" } = scalar;
  if (/\d/.test(source)) scalar.value = source;
  else throw new Error(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`);
}

function duplicatesOf(document: Document, lines: LineCounter): readonly string[] {
  const found: string[] = [];
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key, value } of isMap(map) ? map.items : []) {
        if (!isScalar(key)) continue;
        if (key.value === null) throw nullKey(isScalar(value) ? value.value : value);
        if (keys.has(key.value) && key.value !== "<<") {
          const line = lines.linePos(key.range?.[0] ?? 0).line;
          found.push(`line ${line}: key ${JSON.stringify(String(key.value))} already set in map`);
        }
        if (found.length >= duplicatesMax) return visit.BREAK;
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function nullKey(value: unknown): Error {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new Error(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
}
