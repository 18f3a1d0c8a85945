/** All functions of rules: those of kube-apiserver's CEL environment. */
import type { Library, Overload } from "../overload.ts";
import { conversions } from "./conversions.ts";
import { lists, sets } from "./lists.ts";
import { operators } from "./operators.ts";
import { optionals } from "./optionals.ts";
import { strings } from "./strings.ts";

const parts: readonly Library[] = [operators, conversions, strings, lists, sets, optionals];

function merged(): ReadonlyMap<string, readonly Overload[]> {
  const all = new Map<string, readonly Overload[]>();
  for (const part of parts)
    for (const [name, overloads] of Object.entries(part)) all.set(name, [...(all.get(name) ?? []), ...overloads]);
  return all;
}

export const functions: ReadonlyMap<string, readonly Overload[]> = merged();
