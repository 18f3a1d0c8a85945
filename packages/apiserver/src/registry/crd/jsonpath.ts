/**
 * The JSONPath dialect of kubectl as far as printer columns and field selectors need it: `.a.b`, `['a.b']`,
 * `[0]`, `[-1]`, `[*]`, and filters of one comparison (`[?(@.type=="Ready")]`). Paths are compiled once.
 */

type Step = (values: readonly unknown[]) => readonly unknown[];

/** A compiled path; gives the first value that it finds, undefined when there is none. */
export type JsonPath = (root: unknown) => unknown;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const child =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));

const wildcard: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []));

const slice =
  (from: number | undefined, to: number | undefined): Step =>
  (values) =>
    values.flatMap((value) => (Array.isArray(value) ? value.slice(from, to) : []));

const index =
  (at: number): Step =>
  (values) =>
    values.flatMap((value) => (Array.isArray(value) && value.at(at) !== undefined ? [value.at(at)] : []));

/** Filters in filters take time with the square of the length. */
const pathLengthMax = 4_096;

/**
 * Compiles a path (`.spec.replicas`, with or without the braces of a template); throws when it cannot be one.
 */
export function compileJsonPath(path: string): JsonPath {
  if (path.length > pathLengthMax) throw new Error(`Cannot read a JSONPath of more than ${pathLengthMax} characters`);
  const text = path.startsWith("{") && path.endsWith("}") ? path.slice(1, -1) : path;
  const steps = new Parser(text).parse();
  return (root) => {
    let values: readonly unknown[] = [root];
    for (const step of steps) values = step(values);
    return values[0];
  };
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): readonly Step[] {
    const steps: Step[] = [];
    if (this.#text[this.#at] === "$") this.#at++;
    while (this.#at < this.#text.length) {
      const step = this.#next();
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  #next(): Step | undefined {
    const char = this.#text[this.#at];
    if (char === ".") return this.#field();
    if (char === "[") return this.#bracket();
    throw this.#error(`unexpected ${JSON.stringify(char)}`);
  }

  #field(): Step | undefined {
    this.#at++;
    const rest = this.#text.slice(this.#at);
    // A backslash keeps a dot inside a name: `.metadata.annotations.example\.com/x`.
    const name = /^(?:\\.|[^.[\]\\])*/.exec(rest)?.[0] ?? "";
    this.#at += name.length;
    if (name === "*") return wildcard;
    if (name !== "") return child(name.replaceAll(/\\(.)/g, "$1"));
    // `.` alone is the root, `.[0]` an index of it.
    if (this.#at >= this.#text.length || this.#text[this.#at] === "[") return undefined;
    throw this.#error("a field name is missing");
  }

  #bracket(): Step {
    const end = this.#closing();
    const inside = this.#text.slice(this.#at + 1, end).trim();
    this.#at = end + 1;
    if (inside === "*") return wildcard;
    if (/^-?\d+$/.test(inside)) return index(Number(inside));
    const range = /^(-?\d*):(-?\d*)$/.exec(inside);
    if (range !== null) return slice(numberOr(range[1]), numberOr(range[2]));
    const quoted = /^(?:'([^']*)'|"([^"]*)")$/.exec(inside);
    if (quoted !== null) return child(quoted[1] ?? quoted[2] ?? "");
    const filter = /^\?\((.*)\)$/.exec(inside);
    if (filter !== null) return compileFilter(filter[1] ?? "");
    throw this.#error(`cannot read [${inside}]`);
  }

  #closing(): number {
    let depth = 0;
    let quote = "";
    for (let at = this.#at; at < this.#text.length; at++) {
      const char = this.#text.charAt(at);
      if (quote !== "") quote = char === quote ? "" : quote;
      else if (char === "'" || char === '"') quote = char;
      else if (char === "[") depth++;
      else if (char === "]" && --depth === 0) return at;
    }
    throw this.#error("unterminated array");
  }

  #error(problem: string): Error {
    return new Error(`Cannot read the JSONPath ${JSON.stringify(this.#text)}: ${problem} at ${this.#at}`);
  }
}

const numberOr = (text: string | undefined): number | undefined =>
  text === undefined || text === "" ? undefined : Number(text);

/** `@.a.b == "x"` and the like, or `@.a` alone for existence. */
function compileFilter(text: string): Step {
  // Cut at the operator, not matched as a whole: that would try each space of a long run again from each of
  // them.
  const found = /[=!<>]=|[<>]/.exec(text);
  const operator = found?.[0];
  const readLeft = operand(text.slice(0, found?.index).trim());
  const readRight = found === null ? undefined : operand(text.slice(found.index + found[0].length).trim());
  const holds = (item: unknown): boolean => {
    const value = readLeft(item);
    if (operator === undefined || readRight === undefined) return value !== undefined;
    return value !== undefined && compare(value, operator, readRight(item));
  };
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.filter(holds) : []));
}

function operand(text: string): JsonPath {
  if (text.startsWith("@")) return compileJsonPath(text.slice(1));
  const quoted = /^(?:'(.*)'|"(.*)")$/.exec(text);
  if (quoted !== null) return () => quoted[1] ?? quoted[2];
  if (text === "true" || text === "false") return () => text === "true";
  const number = Number(text);
  if (text === "" || Number.isNaN(number))
    throw new Error(`Cannot read the JSONPath filter operand ${JSON.stringify(text)}`);
  return () => number;
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  // Order is defined between values of one type only.
  if (typeof left !== typeof right || (typeof left !== "number" && typeof left !== "string")) return false;
  const other = right as typeof left;
  if (operator === "<") return left < other;
  if (operator === "<=") return left <= other;
  return operator === ">" ? left > other : left >= other;
}
