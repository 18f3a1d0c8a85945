/** Parses CEL into a tree. */
import type { Element, Entry, Expr, Literal } from "./ast.ts";
import type { Issue } from "./issue.ts";
import { tokensOf, type Token } from "./lexer.ts";
import { expandMacro } from "./macros.ts";
import { parseBytesLiteral, parseStringLiteral } from "./string-literal.ts";

/** How deep expressions may nest; cel-go's limit. */
const depthMax = 250;
/**
 * Operators of one kind in a row (`a && b && c`), and fields of fields: each is one deeper than the one
 * before.
 */
const chainMax = 1_000;
const sourceLengthMax = 100_000;

const reserved: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);

const operands = (closing = ""): string =>
  `{'[', '{', '(', ${closing}'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`;

const relations: ReadonlySet<string> = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);

export interface Parsed {
  /** Undefined when there are issues. */
  readonly expr: Expr | undefined;
  readonly issues: readonly Issue[];
}

export function parse(source: string): Parsed {
  if (source.length > sourceLengthMax) {
    const message = `expression code point size exceeds limit: size: ${source.length}, limit ${sourceLengthMax}`;
    return { expr: undefined, issues: [{ at: 0, message }] };
  }
  const issues: Issue[] = [];
  const parser = new Parser(tokensOf(source, issues), issues);
  const expr = parser.parseAll();
  return { expr: issues.length === 0 ? expr : undefined, issues };
}

/** Stops the parser at its first syntax error. */
class SyntaxStop extends Error {}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #issues: Issue[];
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], issues: Issue[]) {
    this.#tokens = tokens;
    this.#issues = issues;
  }

  parseAll(): Expr | undefined {
    try {
      const expr = this.#expression();
      if (this.#token.kind === "end") return expr;
      const word = this.#ahead(1).kind === "end" ? "extraneous" : "mismatched";
      return this.#stop(`${word} input '${this.#token.text}' expecting <EOF>`);
    } catch (error) {
      if (error instanceof SyntaxStop) return undefined;
      throw error;
    }
  }

  get #token(): Token {
    return this.#ahead(0);
  }

  #ahead(distance: number): Token {
    return (
      this.#tokens[Math.min(this.#index + distance, this.#tokens.length - 1)] ?? { kind: "end", text: "<EOF>", at: 0 }
    );
  }

  #stop(message: string, at = this.#token.at): never {
    this.#issues.push({ at, message: `Syntax error: ${message}` });
    throw new SyntaxStop();
  }

  #take(): Token {
    const token = this.#token;
    this.#index += 1;
    return token;
  }

  #isSymbol(text: string): boolean {
    return this.#token.kind === "symbol" && this.#token.text === text;
  }

  #accept(text: string): Token | undefined {
    return this.#isSymbol(text) ? this.#take() : undefined;
  }

  #expect(text: string, wanted = `'${text}'`): Token {
    return this.#accept(text) ?? this.#stop(`mismatched input '${this.#token.text}' expecting ${wanted}`);
  }

  #expression(): Expr {
    this.#depth += 1;
    if (this.#depth > depthMax) {
      this.#issues.push({ at: 0, message: `expression recursion limit exceeded: ${depthMax}` });
      throw new SyntaxStop();
    }
    const condition = this.#or();
    const question = this.#accept("?");
    let result = condition;
    if (question !== undefined) {
      const yes = this.#or();
      this.#expect(":");
      const no = this.#expression();
      result = operator("_?_:_", question.at, [condition, yes, no]);
    }
    this.#depth -= 1;
    return result;
  }

  #or(): Expr {
    return this.#chain(["||"], () => this.#and());
  }

  #and(): Expr {
    return this.#chain(["&&"], () => this.#relation());
  }

  #relation(): Expr {
    return this.#chain(relations, () => this.#sum());
  }

  #sum(): Expr {
    return this.#chain(["+", "-"], () => this.#product());
  }

  #product(): Expr {
    return this.#chain(["*", "/", "%"], () => this.#unary());
  }

  #chain(operators: Iterable<string>, next: () => Expr): Expr {
    const known = operators instanceof Set ? operators : new Set(operators);
    let left = next();
    for (let length = 1; this.#token.kind === "symbol" && known.has(this.#token.text); length++) {
      this.#checkChain(length);
      const { text, at } = this.#take();
      left = operator(text === "in" ? "@in" : `_${text}_`, at, [left, next()]);
    }
    return left;
  }

  /** What comes after the parser walks expressions by recursion. */
  #checkChain(length: number): void {
    if (length <= chainMax) return;
    this.#issues.push({ at: 0, message: `expression recursion limit exceeded: ${chainMax}` });
    throw new SyntaxStop();
  }

  #unary(): Expr {
    for (const [symbol, name] of [
      ["!", "!_"],
      ["-", "-_"],
    ] as const) {
      if (!this.#isSymbol(symbol)) continue;
      // A sign belongs to its number, so that the smallest int can be written.
      if (symbol === "-" && /^(?:int|double)$/.test(this.#ahead(1).kind)) break;
      const { at } = this.#take();
      let count = 1;
      while (this.#accept(symbol) !== undefined) count += 1;
      const operand = this.#member();
      return count % 2 === 0 ? operand : operator(name, at, [operand]);
    }
    return this.#member();
  }

  #member(): Expr {
    let expr = this.#primary();
    for (let length = 1; ; length++) {
      this.#checkChain(length);
      const dot = this.#accept(".");
      if (dot !== undefined) {
        expr = this.#selection(expr, dot);
        continue;
      }
      const bracket = this.#accept("[");
      if (bracket === undefined) return expr;
      const isOptional = this.#accept("?") !== undefined;
      const index = this.#expression();
      this.#expect("]");
      expr = operator(isOptional ? "_[?_]" : "_[_]", bracket.at, [expr, index]);
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const isOptional = this.#accept("?") !== undefined;
    const token = this.#token;
    if (token.kind === "quoted") this.#issues.push({ at: token.at, message: "unsupported syntax: '`'" });
    else if (token.kind !== "ident") return this.#stop("no viable alternative at input '.'");
    this.#take();
    const field = token.text;
    const open = isOptional ? undefined : this.#accept("(");
    if (open === undefined) return { kind: "select", at: dot.at, operand, field, isOptional };
    const call = { kind: "call", at: open.at, name: field, target: operand, args: this.#arguments() } as const;
    return expandMacro(call, this.#issues) ?? call;
  }

  #arguments(): readonly Expr[] {
    const args: Expr[] = [];
    if (this.#accept(")") !== undefined) return args;
    if (this.#token.kind === "end") return this.#stop(`mismatched input '<EOF>' expecting ${operands("')', ")}`);
    do args.push(this.#expression());
    while (this.#accept(",") !== undefined);
    this.#expect(")", "{')', ','}");
    return args;
  }

  #primary(): Expr {
    const token = this.#token;
    if (token.kind === "ident") return this.#name();
    if (token.kind === "symbol") {
      switch (token.text) {
        case "(":
          return this.#nested();
        case "[":
          return this.#list();
        case "{":
          return this.#map();
        case ".":
          if (this.#ahead(1).kind === "ident") return this.#name();
          break;
        case "-":
        case "true":
        case "false":
        case "null":
          return this.#literal();
      }
    } else if (token.kind !== "end" && token.kind !== "quoted") return this.#literal();
    return this.#stop(`mismatched input '${token.text}' expecting ${operands()}`);
  }

  #nested(): Expr {
    this.#take();
    const expr = this.#expression();
    if (!this.#isSymbol(")")) return this.#stop(`missing ')' at '${this.#token.text}'`);
    this.#take();
    return expr;
  }

  #name(): Expr {
    const isAbsolute = this.#accept(".") !== undefined;
    const { text, at } = this.#take();
    const open = this.#accept("(");
    if (open !== undefined) {
      const call = { kind: "call", at: open.at, name: text, target: undefined, args: this.#arguments() } as const;
      this.#refuseReserved(text, at);
      return (isAbsolute ? undefined : expandMacro(call, this.#issues)) ?? call;
    }
    const struct = this.#structName(text);
    if (struct !== undefined) return this.#struct(struct);
    this.#refuseReserved(text, at);
    return { kind: "ident", at, name: text };
  }

  #refuseReserved(name: string, at: number): void {
    if (reserved.has(name)) this.#issues.push({ at, message: `reserved identifier: ${name}` });
  }

  /** `a.b.C{`: the name, when the tokens ahead spell one with a brace behind it. */
  #structName(first: string): string | undefined {
    let name = first;
    let distance = 0;
    while (this.#ahead(distance).text === "." && this.#ahead(distance + 1).kind === "ident") {
      name += `.${this.#ahead(distance + 1).text}`;
      distance += 2;
    }
    const brace = this.#ahead(distance);
    if (brace.kind !== "symbol" || brace.text !== "{") return undefined;
    this.#index += distance;
    return name;
  }

  #struct(name: string): Expr {
    const { at } = this.#expect("{");
    const entries: Entry[] = [];
    while (!this.#isSymbol("}")) {
      const isOptional = this.#accept("?") !== undefined;
      const field = this.#take();
      this.#expect(":");
      const key = { kind: "literal", at: field.at, type: "string", value: field.text } as const;
      entries.push({ key, value: this.#expression(), isOptional });
      if (this.#accept(",") === undefined) break;
    }
    this.#expect("}");
    return { kind: "struct", at, name, entries };
  }

  #list(): Expr {
    const { at } = this.#take();
    const elements: Element[] = [];
    while (!this.#isSymbol("]")) {
      const isOptional = this.#accept("?") !== undefined;
      elements.push({ value: this.#expression(), isOptional });
      if (this.#accept(",") === undefined) break;
    }
    this.#expect("]", "{']', ','}");
    return { kind: "list", at, elements };
  }

  #map(): Expr {
    const { at } = this.#take();
    const entries: Entry[] = [];
    while (!this.#isSymbol("}")) {
      const isOptional = this.#accept("?") !== undefined;
      const key = this.#expression();
      this.#expect(":");
      entries.push({ key, value: this.#expression(), isOptional });
      if (this.#accept(",") === undefined) break;
    }
    this.#expect("}", "{'}', ','}");
    return { kind: "map", at, entries };
  }

  #literal(): Expr {
    const { at } = this.#token;
    const sign = this.#accept("-") === undefined ? "" : "-";
    const { kind, text } = this.#take();
    const literal = literalOf(kind, text, sign);
    if (typeof literal !== "string") return { kind: "literal", at, ...literal };
    this.#issues.push({ at, message: literal });
    return { kind: "literal", at, type: "null", value: null };
  }
}

function operator(name: string, at: number, args: readonly Expr[]): Expr {
  return { kind: "call", at, name, target: undefined, args };
}

/** The literal, or what is wrong with it. */
function literalOf(kind: string, text: string, sign: string): Pick<Literal, "type" | "value"> | string {
  switch (kind) {
    case "int": {
      const value = BigInt(text) * (sign === "-" ? -1n : 1n);
      return BigInt.asIntN(64, value) === value ? { type: "int", value } : "invalid int literal";
    }
    case "uint": {
      const value = BigInt(text.slice(0, -1));
      return BigInt.asUintN(64, value) === value ? { type: "uint", value } : "invalid uint literal";
    }
    case "double": {
      const value = Number(sign + text);
      return Number.isFinite(value) ? { type: "double", value } : "invalid double literal";
    }
    case "string": {
      const value = parseStringLiteral(text);
      return value === undefined ? "unable to unescape string" : { type: "string", value };
    }
    case "bytes": {
      const value = parseBytesLiteral(text);
      return value === undefined ? "unable to unescape string" : { type: "bytes", value };
    }
    default:
      return text === "null" ? { type: "null", value: null } : { type: "bool", value: text === "true" };
  }
}
