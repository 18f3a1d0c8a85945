/**
 * Parses YAML 1.1, as the API does. It runs in a worker thread for all but short texts, so it imports no
 * server code.
 */
import { type Document, isMap, isScalar, type LineCounter, LineCounter as Lines, parseDocument, visit } from "yaml";

export interface ParsedYaml {
  readonly value: unknown;
  /** Duplicate keys of the text, as upstream's messages; the last value wins. */
  readonly duplicates: readonly string[];
}

/** How often the aliases of a text may be followed. */
const aliasesMax = 100;
/** Duplicates that are reported. */
const duplicatesMax = 100;

/** Throws an Error that names the problem in the text. */
export function parseYaml(source: string): ParsedYaml {
  const lineCounter = new Lines();
  // The library compares each key with each other one.
  const settings = { version: "1.1", uniqueKeys: false, merge: true, intAsBigInt: true, lineCounter } as const;
  const document = parseDocument(source, settings);
  const [fault] = document.errors;
  if (fault !== undefined) throw new Error(fault.message);
  const duplicates = duplicatesOf(document, lineCounter);
  setIntegers(document);
  return { value: document.toJS({ maxAliasCount: aliasesMax }), duplicates };
}

/** An integer is a `bigint` only if a number may not hold it exactly; beyond int64 it is a float. */
function setIntegers(document: Document): void {
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== "bigint") return;
      const number = Number(scalar.value);
      const isExact = Number.isSafeInteger(number) || BigInt.asIntN(64, scalar.value) !== scalar.value;
      if (isExact) scalar.value = number;
    },
  });
}

function duplicatesOf(document: Document, lines: LineCounter): readonly string[] {
  const found: string[] = [];
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of isMap(map) ? map.items : []) {
        if (!isScalar(key)) continue;
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
