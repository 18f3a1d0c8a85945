/** All functions of rules: those of kube-apiserver's CEL environment. */
import type { Library, Overload } from "../overload.ts";
import { authorizers } from "./authorizers.ts";
import { conversions } from "./conversions.ts";
import { lists, sets } from "./lists.ts";
import { namedFormats } from "./named-formats.ts";
import { networks } from "./networks.ts";
import { operators } from "./operators.ts";
import { optionals } from "./optionals.ts";
import { quantities } from "./quantities.ts";
import { semvers } from "./semvers.ts";
import { strings } from "./strings.ts";
import { urls } from "./urls.ts";

const parts: readonly Library[] = [
  operators,
  conversions,
  strings,
  lists,
  sets,
  optionals,
  quantities,
  networks,
  urls,
  semvers,
  namedFormats,
  authorizers,
];

function merged(): ReadonlyMap<string, readonly Overload[]> {
  const all = new Map<string, readonly Overload[]>();
  for (const part of parts)
    for (const [name, overloads] of Object.entries(part)) all.set(name, [...(all.get(name) ?? []), ...overloads]);
  return all;
}

export const functions: ReadonlyMap<string, readonly Overload[]> = merged();
