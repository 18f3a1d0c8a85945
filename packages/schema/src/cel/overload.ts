/** How functions are declared: signatures as text, implementations typed by them. */
import type { CelType } from "./type.ts";
import type {
  CelDuration,
  CelFault,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  Value,
} from "./value.ts";

export interface Overload {
  readonly isMember: boolean;
  /** The target of a member function comes first. */
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** The kinds of value that it takes; "dyn" is any. */
  readonly kinds: readonly string[];
  readonly run: (args: readonly Value[]) => Value;
  /** What a call costs beyond its arguments. */
  readonly cost: Cost;
}

export type Cost = (args: readonly Value[], result: Value) => number;

/** Functions by name. */
export type Library = Readonly<Record<string, readonly Overload[]>>;

interface KindValues {
  readonly string: string;
  readonly int: bigint;
  readonly uint: CelUint;
  readonly double: number;
  readonly bool: boolean;
  readonly bytes: Uint8Array;
  readonly duration: CelDuration;
  readonly timestamp: CelTimestamp;
}

type ArgumentOf<Text extends string> = Text extends keyof KindValues
  ? KindValues[Text]
  : Text extends `list(${string}`
    ? CelList
    : Text extends `map(${string}`
      ? CelMap
      : Text extends `optional(${string}`
        ? CelOptional
        : Text extends `type(${string}`
          ? CelTypeValue
          : Exclude<Value, CelFault>;

type ArgumentsOf<Texts extends readonly string[]> = { [Index in keyof Texts]: ArgumentOf<Texts[Index]> };

export const unitCost: Cost = () => 1;

/** A function of its own: `size(x)`. */
export function plain<const Texts extends readonly string[]>(
  parameters: Texts,
  result: string,
  run: (...args: ArgumentsOf<Texts>) => Value,
  cost: Cost = unitCost,
): Overload {
  return overload(false, parameters, result, run, cost);
}

/** A function of its first argument: `x.size()`. */
export function member<const Texts extends readonly string[]>(
  parameters: Texts,
  result: string,
  run: (...args: ArgumentsOf<Texts>) => Value,
  cost: Cost = unitCost,
): Overload {
  return overload(true, parameters, result, run, cost);
}

function overload<Texts extends readonly string[]>(
  isMember: boolean,
  texts: Texts,
  result: string,
  run: (...args: ArgumentsOf<Texts>) => Value,
  cost: Cost,
): Overload {
  const parameters = texts.map(typeNamed);
  return {
    isMember,
    parameters,
    result: typeNamed(result),
    kinds: parameters.map(guardOf),
    // The interpreter calls an overload only with values of its kinds.
    run: (args) => run(...(args as unknown as ArgumentsOf<Texts>)),
    cost,
  };
}

function guardOf(type: CelType): string {
  if (type.kind === "parameter") return "dyn";
  return type.kind === "opaque" ? type.name : type.kind;
}

/**
 * `int`, `list(A)`, `map(A, B)`, `optional(A)`, `type(A)`, a single capital for a parameter, otherwise an
 * opaque name.
 */
function typeNamed(text: string): CelType {
  const [, name = "", inner] = /^([\w.]+)(?:\((.*)\))?$/.exec(text) ?? [];
  const parameters = inner === undefined ? [] : splitTop(inner).map(typeNamed);
  const [first = { kind: "dyn" } as const, second = { kind: "dyn" } as const] = parameters;
  switch (name) {
    case "list":
      return { kind: "list", element: first };
    case "map":
      return { kind: "map", key: first, value: second };
    case "optional":
      return { kind: "opaque", name: "optional_type", parameters: [first] };
    case "type":
      return { kind: "type", of: first };
    case "bool":
    case "int":
    case "uint":
    case "double":
    case "string":
    case "bytes":
    case "null":
    case "timestamp":
    case "duration":
    case "dyn":
      return { kind: name };
    default:
      return /^[A-Z]$/.test(name) ? { kind: "parameter", name } : { kind: "opaque", name, parameters };
  }
}

function splitTop(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let current = "";
  for (const character of text) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth === 0) {
      parts.push(current.trim());
      current = "";
    } else current += character;
  }
  return [...parts, current.trim()];
}
