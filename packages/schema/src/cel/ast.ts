/**
 * The tree of a parsed expression. Macros are nodes of their own, so that each has one rule for types and one
 * for running.
 */

interface Node {
  /** Where errors about the node point: the operator, the dot, the opening bracket or the first character. */
  readonly at: number;
}

export interface Literal extends Node {
  readonly kind: "literal";
  readonly type: "int" | "uint" | "double" | "string" | "bytes" | "bool" | "null";
  readonly value: bigint | number | string | boolean | null | Uint8Array;
}

export interface Ident extends Node {
  readonly kind: "ident";
  readonly name: string;
}

/** `operand.field`, or `operand.?field`. */
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  readonly isOptional: boolean;
}

/** `has(operand.field)`. */
export interface Presence extends Node {
  readonly kind: "presence";
  readonly operand: Expr;
  readonly field: string;
}

/** Operators are calls of functions named as in cel-go: `_+_`, `!_`, `_[_]`. */
export interface Call extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface Element {
  readonly value: Expr;
  readonly isOptional: boolean;
}

export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly elements: readonly Element[];
}

export interface Entry extends Element {
  readonly key: Expr;
}

export interface MapLiteral extends Node {
  readonly kind: "map";
  readonly entries: readonly Entry[];
}

/**
 * A message. Rules have no types of messages, mutations have a few; its fields are entries of a map with
 * their names as keys.
 */
export interface StructLiteral extends Node {
  readonly kind: "struct";
  readonly name: string;
  readonly entries: readonly Entry[];
}

export type LoopMacro =
  | "all"
  | "exists"
  | "existsOne"
  | "map"
  | "filter"
  | "transformList"
  | "transformMap"
  | "transformMapEntry";

export interface Loop extends Node {
  readonly kind: "loop";
  readonly macro: LoopMacro;
  readonly range: Expr;
  readonly variable: string;
  /** The element beside the index, the value beside the key. */
  readonly second: string | undefined;
  readonly condition: Expr | undefined;
  readonly transform: Expr | undefined;
}

/** `operand.optMap(variable, transform)`; `flat` when the transform gives an optional itself. */
export interface OptionalMap extends Node {
  readonly kind: "optionalMap";
  readonly operand: Expr;
  readonly variable: string;
  readonly transform: Expr;
  readonly isFlat: boolean;
}

export type Expr =
  | Literal
  | Ident
  | Select
  | Presence
  | Call
  | ListLiteral
  | MapLiteral
  | StructLiteral
  | Loop
  | OptionalMap;

/** The dotted name that a chain of selections spells, if it is one. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.isOptional) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}
