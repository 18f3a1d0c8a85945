/** Checks selectors of PromQL: their matchers, and the durations of ranges and offsets. */
import type { SyntaxNode } from "@lezer/common";
import { RE2JS } from "re2js";
import { unquoted } from "./string-literal.ts";
import { children, type Text, textOf, Wrong } from "./syntax.ts";

interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** A selector must select something by a name or by a matcher that does not match the empty text. */
export function checkSelector(node: SyntaxNode, text: Text): void {
  const name = node.getChild("Identifier");
  const list = node.getChild("LabelMatchers");
  const matchers = (list === null ? [] : children(list)).flatMap((each) => matcherOf(each, text) ?? []);
  const names = matchers.filter(({ label }) => label === "__name__");
  if (name !== null && names.length > 0) throw new Wrong(`the name of "${textOf(text, node)}" is there twice`);
  const selects = matchers.map((matcher) => !matchesEmpty(matcher));
  if (name === null && !selects.includes(true))
    throw new Wrong(`"${textOf(text, node)}" selects everything; add a name, or a matcher that is not empty`);
}

/** A quoted name of a metric is a matcher on `__name__`. */
function matcherOf(node: SyntaxNode, text: Text): Matcher | undefined {
  const parts = children(node);
  const [first, operator, value] = parts;
  if (first === undefined) return undefined;
  if (node.name === "QuotedLabelName") return { label: "__name__", operator: "=", value: literal(first, text) };
  if (operator === undefined || value === undefined) return undefined;
  const isQuoted = first.name !== "LabelName";
  const label = isQuoted ? textOf(text, first).slice(1, -1) : textOf(text, first);
  return { label, operator: textOf(text, operator), value: literal(value, text) };
}

function literal(node: SyntaxNode, text: Text): string {
  const value = unquoted(textOf(text, node));
  if (value === undefined) throw new Wrong(`${textOf(text, node)} has an escape that is none`);
  return value;
}

/** Also checks the regular expression. */
function matchesEmpty({ operator, value }: Matcher): boolean {
  switch (operator) {
    case "=":
      return value === "";
    case "!=":
      return value !== "";
    default:
      return patternOf(value).matches("") === (operator === "=~");
  }
}

function patternOf(value: string): RE2JS {
  try {
    return RE2JS.compile(`^(?s:${value})$`);
  } catch (error) {
    throw new Wrong(`"${value}" is no regular expression (RE2): ${error instanceof Error ? error.message : ""}`);
  }
}

const plainDuration = /^[-+]?\s*(?:[\d.][\da-z.]*(?:e[-+]?\d+)?|\(\s*\d+\s*\))$/i;

/** A range, a step or an offset: without a feature, a plain duration. */
export function checkDurations(node: SyntaxNode, text: Text): void {
  for (const child of children(node)) {
    const isOffset = child.name === "OffsetDurationExpr";
    if (!isOffset && child.name !== "DurationExpr") continue;
    if (text.features.has("promql-duration-expr")) continue;
    const written = textOf(text, child).trim();
    if (!plainDuration.test(written))
      throw new Wrong(`the duration "${written}" needs the feature promql-duration-expr`);
    const isPositive = /[1-9]/.test(written) && !written.startsWith("-");
    if (!isOffset && !isPositive) throw new Wrong(`a range must be longer than 0, got "${written}"`);
  }
}
