/**
 * Small wrong versions of a source file ("mutants"), all built into one text: each place asks at run time
 * whether its mutant is the one that is alive, so one transformed file serves a whole campaign.
 */
import { createHash } from "node:crypto";
import { parseSync } from "oxc-parser";

export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** What was changed into what, short enough for one line of a report. */
  readonly change: string;
  /** Names the mutant for as long as its file stays the same. */
  readonly key: string;
}

export interface Instrumented {
  readonly code: string;
  readonly mutants: readonly Mutant[];
}

/** The parser's nodes, as far as they are looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** The name under which the transformed code asks whether a mutant is alive. */
const ask = "globalThis.__setpointMutant";

const swapped: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "&&": ["||"],
  "||": ["&&"],
};

/**
 * Methods whose result has the type of their receiver, so that leaving them out is a mistake that compiles.
 */
const droppable: ReadonlySet<string> = new Set(["filter", "sort", "toSorted", "slice", "reverse", "toReversed"]);
/** Logging is for people; no test should hold it fast. */
const isLogging = /\blog(ger)?\b[.?[(]|#log[.?[(]/;
const textMax = 60;

/** `firstId` is the id of the file's first mutant; ids follow each other in the order of the text. */
export function instrument(file: string, source: string, firstId: number): Instrumented {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`Cannot mutate "${file}": ${errors[0]?.message}`);
  return new Instrumenter(file, source, firstId).run(program as unknown as Node);
}

class Instrumenter {
  readonly #file: string;
  readonly #source: string;
  readonly #mutants: Mutant[] = [];
  readonly #hash: string;
  #nextId: number;

  constructor(file: string, source: string, firstId: number) {
    this.#file = file;
    this.#source = source;
    this.#hash = createHash("sha256").update(source).digest("hex").slice(0, 12);
    this.#nextId = firstId;
  }

  run(program: Node): Instrumented {
    return { code: this.#render(program), mutants: this.#mutants };
  }

  #text(node: Node): string {
    return this.#source.slice(node.start, node.end);
  }

  #alive(node: Node, change: string): string {
    const id = this.#nextId++;
    const line = this.#source.slice(0, node.start).split("\n").length;
    const key = `${this.#file} ${this.#hash} ${node.start} ${change}`.replaceAll(/\s+/g, " ");
    this.#mutants.push({ id, file: this.#file, line, change: change.replaceAll(/\s+/g, " "), key });
    return `${ask}(${id})`;
  }

  /** The node's text with its children instrumented. */
  #children(node: Node): string {
    let text = "";
    let at = node.start;
    for (const child of childrenOf(node)) {
      if (child.start < at) continue;
      text += this.#source.slice(at, child.start) + this.#render(child);
      at = child.end;
    }
    return text + this.#source.slice(at, node.end);
  }

  #render(node: Node): string {
    if (isTypeOnly(node)) return this.#text(node);
    const wrong = this.#alternatives(node);
    const guard = wrong.map(([change, text]) => `${this.#alive(node, change)}?(${text}):`).join("");
    const right = this.#inner(node);
    return guard === "" ? right : `(${guard}(${right}))`;
  }

  /** Statements and functions, which are mutated as a whole, and everything else. */
  #inner(node: Node): string {
    if (node.type === "ExpressionStatement") return this.#statement(node);
    if (node["isBody"] === true) return this.#body(node);
    if (isFunction(node)) markBody(node);
    return this.#children(node);
  }

  #statement(node: Node): string {
    const text = this.#text(node);
    if (typeof node["directive"] === "string" || text.startsWith("super(") || isLogging.test(text))
      return this.#text(node);
    // Braces around it all: an `else` that follows belongs to the statement outside.
    return `{if(!${this.#alive(node, `${short(text)} → (nothing)`)}){${this.#children(node)}}}`;
  }

  #body(node: Node): string {
    const guard = `if(${this.#alive(node, "body of the function → (nothing)")})return undefined;`;
    return `{${guard}${this.#children(node).slice(1)}`;
  }

  /** Wrong expressions in place of this one: what changed, and the new text. */
  #alternatives(node: Node): readonly (readonly [change: string, text: string])[] {
    const text = this.#text(node);
    const named = (wrong: string): readonly [string, string] => [`${short(text)} → ${short(wrong)}`, wrong];
    switch (node.type) {
      case "BinaryExpression":
      case "LogicalExpression":
        return this.#operators(node).map(named);
      case "UnaryExpression":
        return node["operator"] === "!" ? [named(this.#text(nodeIn(node, "argument")))] : [];
      case "Literal":
        return typeof node["value"] === "boolean" ? [named(String(!node["value"]))] : [];
      case "UpdateExpression":
        return [named(node["operator"] === "++" ? text.replace("++", "--") : text.replace("--", "++"))];
      case "CallExpression":
        return this.#droppedCall(node).map(named);
      case "ConditionalExpression":
        return [named(this.#text(nodeIn(node, "consequent"))), named(this.#text(nodeIn(node, "alternate")))];
      default:
        return node["isTest"] === true ? [named("true"), named("false")] : [];
    }
  }

  #operators(node: Node): readonly string[] {
    const left = this.#text(nodeIn(node, "left"));
    const right = this.#text(nodeIn(node, "right"));
    const operator = String(node["operator"]);
    // `#x in object` has no expression on its left, and text is not subtracted.
    if (operator === "+" && /["'`]/.test(left + right)) return [];
    if (operator === "??") return [left];
    return (swapped[operator] ?? []).map((other) => `${left} ${other} ${right}`);
  }

  #droppedCall(node: Node): readonly string[] {
    const callee = nodeIn(node, "callee");
    if (callee.type !== "MemberExpression" || callee["computed"] === true || node["isChained"] === true) return [];
    const name = this.#text(nodeIn(callee, "property"));
    return droppable.has(name) ? [this.#text(nodeIn(callee, "object"))] : [];
  }
}

function nodeIn(node: Node, field: string): Node {
  return node[field] as Node;
}

function isFunction(node: Node): boolean {
  return /Function(Expression|Declaration)$/.test(node.type);
}

/** A function's block is mutated as a whole; a constructor's is not, for nothing would work without it. */
function markBody(node: Node): void {
  const body = node["body"] as (Node & { isBody?: boolean }) | null;
  const isEmpty = (body?.["body"] as readonly unknown[] | undefined)?.length === 0;
  if (body?.type === "BlockStatement" && node["isConstructor"] !== true && !isEmpty) body.isBody = true;
}

function isTypeOnly({ type }: Node): boolean {
  return (
    (type.startsWith("TS") && !["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"].includes(type)) ||
    type === "ImportDeclaration" ||
    type === "TemplateElement"
  );
}

/** Children in the order of the text, each told what it is to its parent. */
function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (const [field, value] of Object.entries(node)) {
    if (field === "key" && node["computed"] !== true) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) children.push(child);
  }
  for (const child of children as (Node & { isTest?: boolean; isChained?: boolean; isConstructor?: boolean })[]) {
    if (node.type === "IfStatement" && node["test"] === child) child.isTest = !isMutatedAnyway(child);
    if (node.type === "ChainExpression" || (node["isChained"] === true && isLink(node, child))) child.isChained = true;
    if (node.type === "MethodDefinition" && node["kind"] === "constructor") child.isConstructor = true;
  }
  return children.toSorted((a, b) => a.start - b.start);
}

/** A comparison has mutants of its own that are harder to see than a constant. */
function isMutatedAnyway({ type }: Node): boolean {
  return ["BinaryExpression", "LogicalExpression", "UnaryExpression"].includes(type);
}

/** Whether the child carries on the chain `a?.b.c` of its parent. */
function isLink(node: Node, child: Node): boolean {
  return node["object"] === child || node["callee"] === child;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string" && "start" in value;
}

function short(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}…` : text;
}
