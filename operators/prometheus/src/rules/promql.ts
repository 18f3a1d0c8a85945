/** Checks expressions of PromQL: their grammar by Prometheus' own grammar for editors, and their types. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";
import { aggregationParameters, promqlFunctions, type ValueType } from "./promql-functions.ts";
import { checkDurations, checkSelector } from "./promql-selectors.ts";
import { unquoted } from "./string-literal.ts";
import { children, type Text, textOf, Wrong } from "./syntax.ts";

export interface PromqlOptions {
  /** The features of the server: `promql-experimental-functions` and its like. */
  readonly features?: readonly string[];
}

/** A type, or unknown where Prometheus knows more than this check. */
type Type = ValueType | "unknown";

/** What is wrong with the expression; undefined when Prometheus takes it. */
export function promqlProblem(expression: string, options: PromqlOptions = {}): string | undefined {
  if (expression.trim() === "") return "expected an expression, got nothing";
  const tree = parser.parse(expression);
  const [top] = children(tree.topNode);
  const error = firstError(tree.topNode);
  if (error !== undefined) return `syntax error at ${place(expression, error.from)}`;
  try {
    if (top !== undefined) typeOf(top, { expression, features: new Set(options.features) });
    return undefined;
  } catch (problem) {
    if (problem instanceof Wrong) return problem.message;
    throw problem;
  }
}

function firstError(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type.isError) return node;
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    const error = firstError(child);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** Where it is, as Prometheus counts lines and columns. */
function place(expression: string, at: number): string {
  const lines = expression.slice(0, at).split("\n");
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}, near "${expression.slice(at, at + 20)}"`;
}

const expressions = new Set([
  ...["VectorSelector", "MatrixSelector", "SubqueryExpr", "OffsetExpr", "StepInvariantExpr", "AggregateExpr"],
  ...["FunctionCall", "BinaryExpr", "UnaryExpr", "ParenExpr", "NumberDurationLiteral", "StringLiteral"],
  ...["AnchoredExpr", "SmoothedExpr"],
]);

function operands(node: SyntaxNode): readonly SyntaxNode[] {
  return children(node).filter(({ name }) => expressions.has(name));
}

function typeOf(node: SyntaxNode, text: Text): Type {
  const [operand] = operands(node);
  switch (node.name) {
    case "NumberDurationLiteral":
      return "scalar";
    case "StringLiteral":
      if (unquoted(textOf(text, node)) === undefined)
        throw new Wrong(`${textOf(text, node)} has an escape that is none`);
      return "string";
    case "VectorSelector":
      checkSelector(node, text);
      return "vector";
    case "MatrixSelector":
      checkDurations(node, text);
      return rangeType(operand, text);
    case "OffsetExpr":
    case "StepInvariantExpr":
      return modifiedType(node, text);
    case "SubqueryExpr":
      checkDurations(node, text);
      if (operand !== undefined) expectType(operand, "vector", "a subquery", text);
      return "matrix";
    case "FunctionCall":
      return callType(node, text);
    case "AggregateExpr":
      return aggregationType(node, text);
    case "BinaryExpr":
      return binaryType(node, text);
    case "AnchoredExpr":
    case "SmoothedExpr":
      needFeature("promql-extended-range-selectors", node, text);
      return operand === undefined ? "unknown" : typeOf(operand, text);
    case "UnaryExpr":
      return unaryType(operand, text);
    default:
      return operand === undefined ? "unknown" : typeOf(operand, text);
  }
}

function needFeature(feature: string, node: SyntaxNode, text: Text): void {
  if (!text.features.has(feature)) throw new Wrong(`"${textOf(text, node)}" needs the feature ${feature}`);
}

function rangeType(operand: SyntaxNode | undefined, text: Text): Type {
  if (operand === undefined) return "unknown";
  if (operand.name !== "VectorSelector")
    throw new Wrong(`a range is only possible behind a selector, not behind "${textOf(text, operand)}"`);
  checkSelector(operand, text);
  return "matrix";
}

const modifiable = new Set(["VectorSelector", "MatrixSelector", "SubqueryExpr"]);

/** The grammar puts a modifier around a whole sum, Prometheus on its last operand. */
function lastOperand(node: SyntaxNode): SyntaxNode {
  const right = node.name === "BinaryExpr" ? operands(node).at(-1) : undefined;
  return right === undefined ? node : lastOperand(right);
}

/** `offset` and `@` are possible once each, directly behind a selector or a subquery. */
function modifiedType(node: SyntaxNode, text: Text): Type {
  const [operand] = operands(node);
  if (operand === undefined) return "unknown";
  checkDurations(node, text);
  const other = node.name === "OffsetExpr" ? "StepInvariantExpr" : "OffsetExpr";
  const modified = lastOperand(operand);
  const isSecond = modified.name === other && modifiable.has(operands(modified)[0]?.name ?? "");
  if (!modifiable.has(modified.name) && !isSecond)
    throw new Wrong(`offset and @ are possible behind a selector or a subquery, not behind "${textOf(text, operand)}"`);
  return typeOf(operand, text);
}

function expectType(node: SyntaxNode, wanted: ValueType, where: string, text: Text): void {
  const type = typeOf(node, text);
  if (type === wanted || type === "unknown") return;
  throw new Wrong(`${where} expects a ${wanted}, got the ${type} "${textOf(text, node)}"`);
}

function callType(node: SyntaxNode, text: Text): Type {
  const name = node.firstChild === null ? "" : textOf(text, node.firstChild);
  const body = node.getChild("FunctionCallBody");
  const given = body === null ? [] : operands(body);
  const known = promqlFunctions.get(name);
  if (known === undefined) {
    for (const argument of given) typeOf(argument, text);
    return "unknown";
  }
  if (known.isExperimental && !text.features.has("promql-experimental-functions"))
    throw new Wrong(`function ${name} needs the feature promql-experimental-functions`);
  checkCount(name, given.length, known);
  given.forEach((argument, index) => {
    const wanted = known.takes[Math.min(index, known.takes.length - 1)];
    if (wanted !== undefined) expectType(argument, wanted, `function ${name}`, text);
  });
  return known.gives;
}

function checkCount(
  name: string,
  count: number,
  { takes, optional }: { takes: readonly ValueType[]; optional: number },
): void {
  const least = takes.length - Math.abs(optional);
  const isEnough = count >= least && (optional === -1 || count <= takes.length);
  if (isEnough) return;
  const wanted =
    optional === 0 ? `${takes.length}` : optional === -1 ? `at least ${least}` : `${least} to ${takes.length}`;
  throw new Wrong(`function ${name} expects ${wanted} arguments, got ${count}`);
}

function aggregationType(node: SyntaxNode, text: Text): Type {
  const name = node.firstChild === null ? "" : textOf(text, node.firstChild).toLowerCase();
  const body = node.getChild("FunctionCallBody");
  const given = body === null ? [] : operands(body);
  const parameter = aggregationParameters.get(name);
  const wanted: readonly ValueType[] = parameter === undefined ? ["vector"] : [parameter, "vector"];
  if (given.length !== wanted.length)
    throw new Wrong(`aggregation ${name} expects ${wanted.length} arguments, got ${given.length}`);
  given.forEach((argument, index) => expectType(argument, wanted[index] ?? "vector", `aggregation ${name}`, text));
  return "vector";
}

const comparisons = new Set(["Eql", "Neq", "Gtr", "Lss", "Gte", "Lte"]);
const sets = new Set(["And", "Or", "Unless"]);

function binaryType(node: SyntaxNode, text: Text): Type {
  const [left, right] = operands(node);
  if (left === undefined || right === undefined) return "unknown";
  const types = [typeOf(left, text), typeOf(right, text)];
  const wrong = types.find((type) => type === "string" || type === "matrix");
  if (wrong !== undefined) throw new Wrong(`an operator expects scalars or vectors, got a ${wrong}`);
  const names = children(node).map(({ name }) => name);
  checkModifiers(node, names, text);
  const areScalars = types.every((type) => type === "scalar");
  const hasScalar = types.includes("scalar");
  if (areScalars && names.some((name) => comparisons.has(name)) && !names.includes("BoolModifier"))
    throw new Wrong("a comparison of two scalars needs the modifier bool");
  if (hasScalar && names.some((name) => sets.has(name)))
    throw new Wrong("and, or and unless expect vectors, got a scalar");
  if (hasScalar && names.includes("MatchingModifierClause"))
    throw new Wrong("on, ignoring and group expect vectors on both sides, got a scalar");
  return areScalars ? "scalar" : "vector";
}

function checkModifiers(node: SyntaxNode, names: readonly string[], text: Text): void {
  if (names.includes("BoolModifier") && !names.some((name) => comparisons.has(name)))
    throw new Wrong("the modifier bool is only possible with a comparison");
  const fill = node.getChild("FillModifier");
  if (fill !== null) needFeature("promql-binop-fill-modifiers", fill, text);
  const clause = node.getChild("MatchingModifierClause");
  const parts = clause === null ? [] : children(clause);
  const isGrouped = parts.some(({ name }) => name === "GroupLeft" || name === "GroupRight");
  if (isGrouped && names.some((name) => sets.has(name)))
    throw new Wrong("group_left and group_right are not possible with and, or and unless");
  const [on = [], group = []] = parts
    .filter(({ name }) => name === "GroupingLabels")
    .map((labels) => children(labels).map((label) => textOf(text, label)));
  const twice = parts[0]?.name === "On" ? on.find((label) => group.includes(label)) : undefined;
  if (twice !== undefined) throw new Wrong(`the label "${twice}" is in on and in the group; remove one of them`);
}

function unaryType(operand: SyntaxNode | undefined, text: Text): Type {
  if (operand === undefined) return "unknown";
  const type = typeOf(operand, text);
  if (type === "string" || type === "matrix") throw new Wrong(`a sign expects a scalar or a vector, got a ${type}`);
  return type;
}

/** Adds a matcher to each selector; a matcher on the same label is replaced, so that it cannot be evaded. */
export function withMatcher(expression: string, label: string, value: string): string {
  const edits: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  const text: Text = { expression, features: new Set() };
  parser.parse(expression).iterate({
    enter({ name, node }) {
      if (name === "VectorSelector") edits.push(matcherEdit(node, text, label, value));
    },
  });
  const parts = edits.toSorted((a, b) => b.from - a.from);
  return parts.reduce((whole, { from, to, text: part }) => whole.slice(0, from) + part + whole.slice(to), expression);
}

function matcherEdit(
  node: SyntaxNode,
  text: Text,
  label: string,
  value: string,
): { readonly from: number; readonly to: number; readonly text: string } {
  const list = node.getChild("LabelMatchers");
  const others = (list === null ? [] : children(list))
    .filter((matcher) => labelOf(matcher, text) !== label)
    .map((matcher) => textOf(text, matcher));
  const part = `{${[...others, `${label}=${JSON.stringify(value)}`].join(",")}}`;
  return list === null ? { from: node.to, to: node.to, text: part } : { from: list.from, to: list.to, text: part };
}

/** The label that a matcher is about; undefined for a quoted name of a metric. */
function labelOf(matcher: SyntaxNode, text: Text): string | undefined {
  if (matcher.name === "QuotedLabelName") return undefined;
  const name = matcher.firstChild;
  return name === null ? undefined : textOf(text, name).replaceAll(/^["'`]|["'`]$/g, "");
}
