/** Patterns of schemas: RE2, matched anywhere in the string, as Go's `regexp.MatchString` does. */
import { RE2JS } from "re2js";

/** The compiled pattern, or undefined when it is not valid RE2. */
export interface Pattern {
  matches(text: string): boolean;
}

const compiled = new Map<string, Pattern | undefined>();

/** Patterns come from schemas, which are few; the bound only stops a client that registers kinds without end. */
const compiledPatternsMax = 4096;

export function compilePattern(source: string): Pattern | undefined {
  if (compiled.has(source)) return compiled.get(source);
  if (compiled.size >= compiledPatternsMax) compiled.clear();
  const pattern = compile(source);
  compiled.set(source, pattern);
  return pattern;
}

function compile(source: string): Pattern | undefined {
  try {
    const expression = RE2JS.compile(source);
    return { matches: (text) => expression.matcher(text).find() };
  } catch {
    // The only answer that callers need is that it is none; each says so in its own words.
    return undefined;
  }
}
