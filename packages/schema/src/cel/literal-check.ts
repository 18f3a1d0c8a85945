/** Reports literals that a function never accepts when an expression is compiled, not when it runs. */
import { lookupTable } from "@setpoint/apimachinery";
import { compilePattern } from "../pattern.ts";
import type { Call } from "./ast.ts";
import type { Issue } from "./issue.ts";
import { parseGoDuration, parseTimestamp } from "./time.ts";

const isValid: Readonly<Record<string, (text: string) => boolean>> = lookupTable({
  duration: (text) => parseGoDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
  matches: (text) => compilePattern(text) !== undefined,
});

export function literalIssue(name: string, { args }: Call): Issue | undefined {
  const test = Object.hasOwn(isValid, name) ? isValid[name] : undefined;
  const arg = args.at(-1);
  if (test === undefined || arg?.kind !== "literal" || typeof arg.value !== "string" || test(arg.value))
    return undefined;
  return { at: arg.at, message: `invalid ${name} argument` };
}
