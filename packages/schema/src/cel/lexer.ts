/** Splits an expression into tokens. */
import type { Issue } from "./issue.ts";

export type TokenKind = "int" | "uint" | "double" | "string" | "bytes" | "ident" | "quoted" | "symbol" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** As in the source; of the end: `<EOF>`. */
  readonly text: string;
  readonly at: number;
}

const escape = String.raw`\\(?:[abfnrtv"'\\?\x60]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`;
const string = [
  String.raw`[rR]"""[^]*?"""|[rR]'''[^]*?'''|[rR]"[^"\n\r]*"|[rR]'[^'\n\r]*'`,
  String.raw`"""(?:${escape}|[^\\])*?"""|'''(?:${escape}|[^\\])*?'''`,
  String.raw`"(?:${escape}|[^\\"\n\r])*"|'(?:${escape}|[^\\'\n\r])*'`,
].join("|");

/** What cel-go's lexer has read of a string when it gives up. */
const brokenString = new RegExp(
  String.raw`"(?:${escape}|[^\\"\n\r])*(?:\\?[^])?|'(?:${escape}|[^\\'\n\r])*(?:\\?[^])?`,
  "y",
);

const patterns: readonly (readonly [TokenKind | "space", RegExp])[] = [
  ["space", /(?:[\t \r\n\f]+|\/\/[^\n]*)/y],
  ["bytes", new RegExp(`[bB](?:${string})`, "y")],
  ["string", new RegExp(string, "y")],
  ["double", /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ["uint", /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ["int", /(?:0x[0-9a-fA-F]+|\d+)/y],
  ["ident", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["quoted", /`[A-Za-z0-9_.\-/ ]+`/y],
  ["symbol", /(?:==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%])/y],
];

const words: ReadonlySet<string> = new Set(["true", "false", "null", "in"]);

/** Characters that begin no token are reported and left out, as cel-go's lexer does. */
export function tokensOf(source: string, issues: Issue[]): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const found = tokenAt(source, at);
    if (found === undefined) {
      const text = unreadable(source, at);
      issues.push({ at, message: `Syntax error: token recognition error at: '${printable(text)}'` });
      at += text.length;
      continue;
    }
    const [kind, text] = found;
    if (kind !== "space") tokens.push({ kind: words.has(text) ? "symbol" : kind, text, at });
    at += text.length;
  }
  tokens.push({ kind: "end", text: "<EOF>", at: source.length });
  return tokens;
}

function unreadable(source: string, at: number): string {
  brokenString.lastIndex = at;
  return brokenString.exec(source)?.[0] ?? String.fromCodePoint(source.codePointAt(at) ?? 0);
}

function tokenAt(source: string, at: number): readonly [TokenKind | "space", string] | undefined {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) return [kind, text];
  }
  return undefined;
}

function printable(text: string): string {
  return text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
}
