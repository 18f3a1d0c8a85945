/** Patterns of schemas: RE2, matched anywhere in the string, as Go's `regexp.MatchString` does. */
import { messageOf } from "@setpoint/apimachinery";
import { RE2JS } from "re2js";

/** The compiled pattern, or undefined when it is not valid RE2. */
export interface Pattern {
  /** False also for a text that would take seconds: see `isBeyond`. */
  matches(text: string): boolean;
  /** Whether the text is too long for the pattern. */
  isBeyond(text: string): boolean;
}

/** RE2 takes time with the product of both: `.{1000}` on a megabyte is a thousand million steps. */
export const patternStepsMax = 50_000_000;

const compiled = new Map<string, Pattern | undefined>();

/**
 * Patterns come from schemas, which are few; the bound only stops a client that registers kinds without end.
 */
const compiledPatternsMax = 4096;

/** Compiles an RE2 pattern, or returns the cached result; undefined when the source is not valid RE2. */
export function compilePattern(source: string): Pattern | undefined {
  if (compiled.has(source)) return compiled.get(source);
  if (compiled.size >= compiledPatternsMax) compiled.clear();
  const pattern = compile(source);
  compiled.set(source, pattern);
  return pattern;
}

/** What is wrong with a pattern, in the words of Go's library; undefined for RE2. */
export function patternFault(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function compile(source: string): Pattern | undefined {
  try {
    const expression = RE2JS.compile(source);
    const size = expression.programSize();
    const isBeyond = (text: string): boolean => size * text.length > patternStepsMax;
    return { isBeyond, matches: (text) => !isBeyond(text) && expression.matcher(text).find() };
  } catch {
    // Callers only need to know that it is invalid; each has its own message.
    return undefined;
  }
}
