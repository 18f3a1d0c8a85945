/** The parser of label selectors; texts of errors are those that clients get from kube-apiserver. */
import { messageOf } from "./errors.ts";
import { createLabelRequirement, keyFaults, type LabelOperator, type LabelRequirement } from "./label-requirement.ts";

type TokenKind = "error" | "end" | "identifier" | "," | "(" | ")" | "!" | LabelOperator;

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const symbols: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  [")", ")"],
  [",", ","],
  ["!", "!"],
  ["==", "=="],
  ["=", "="],
  [">", "gt"],
  ["<", "lt"],
  ["!=", "!="],
  ["(", "("],
]);
const special = /[=!(),><]/;
const space = /[ \t\r\n]/;

function scan(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (space.test(character)) {
      at++;
      continue;
    }
    const token = special.test(character) ? scanSymbol(text, at) : scanWord(text, at);
    tokens.push(token);
    at += token.text.length;
  }
  return [...tokens, { kind: "end", text: "" }];
}

function scanSymbol(text: string, at: number): Token {
  for (const length of [2, 1]) {
    const candidate = text.slice(at, at + length);
    const kind = symbols.get(candidate);
    if (kind !== undefined) return { kind, text: candidate };
  }
  return { kind: "error", text: text.charAt(at) };
}

function scanWord(text: string, at: number): Token {
  let end = at;
  while (end < text.length && !special.test(text.charAt(end)) && !space.test(text.charAt(end))) end++;
  const word = text.slice(at, end);
  return { kind: word === "in" || word === "notin" ? word : "identifier", text: word };
}

const binaryOperators = ["in", "notin", "=", "==", "!=", "gt", "lt"];

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  parse(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.#peek().kind !== "end") {
      const start = this.#peek();
      if (!startsRequirement(start)) {
        throw new Error(`found '${start.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#checkedRequirement());
      if (!this.#hasMore()) break;
    }
    return requirements;
  }

  #checkedRequirement(): LabelRequirement {
    try {
      return this.#requirement();
    } catch (error) {
      const reason = messageOf(error);
      throw new Error(`unable to parse requirement: ${reason}`, { cause: error });
    }
  }

  /** Consumes what follows a requirement: the end, or a comma and the start of the next one. */
  #hasMore(): boolean {
    const token = this.#take();
    if (token.kind === "end") return false;
    if (token.kind !== ",") throw new Error(`found '${token.text}', expected: ',' or 'end of string'`);
    const next = this.#peek();
    if (startsRequirement(next)) return true;
    throw new Error(`found '${next.text}', expected: identifier after ','`);
  }

  /** The next token where a word is wanted: `in` and `notin` are ordinary words there. */
  #peek(): Token {
    const token = this.#raw();
    return token.kind === "in" || token.kind === "notin" ? { kind: "identifier", text: token.text } : token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#position++;
    return token;
  }

  #raw(): Token {
    return this.#tokens[this.#position] ?? { kind: "end", text: "" };
  }

  #requirement(): LabelRequirement {
    let token = this.#take();
    const isNegated = token.kind === "!";
    if (isNegated) token = this.#take();
    if (token.kind !== "identifier") throw new Error(`found '${token.text}', expected: identifier`);
    const key = token.text;
    // Upstream has no path at this point and prints its absence.
    const [fault] = keyFaults(key, "<nil>");
    if (fault !== undefined) throw new Error(fault);
    if (isNegated) return createLabelRequirement(key, "!", []);
    const next = this.#peek();
    if (next.kind === "end" || next.kind === ",") return createLabelRequirement(key, "exists", []);
    const operator = this.#operator();
    const values = operator === "in" || operator === "notin" ? this.#values() : [this.#exactValue()];
    return createLabelRequirement(key, operator, values);
  }

  #operator(): LabelOperator {
    const { kind, text } = this.#raw();
    this.#position++;
    switch (kind) {
      case "in":
      case "notin":
      case "=":
      case "==":
      case "!=":
      case "gt":
      case "lt":
        return kind;
      default:
        throw new Error(`found '${text}', expected: ${binaryOperators.join(", ")}`);
    }
  }

  #exactValue(): string {
    const next = this.#peek();
    if (next.kind === "end" || next.kind === ",") return "";
    this.#position++;
    if (next.kind === "identifier") return next.text;
    throw new Error(`found '${next.text}', expected: identifier`);
  }

  #values(): readonly string[] {
    const open = this.#take();
    if (open.kind !== "(") throw new Error(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ")") {
      this.#position++;
      return [""];
    }
    if (first.kind !== "identifier" && first.kind !== ",") {
      throw new Error(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    return this.#list();
  }

  /** Values up to the closing parenthesis; nothing between two commas is the empty value. */
  #list(): readonly string[] {
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (token.kind === "identifier") {
        values.add(token.text);
        const next = this.#peek();
        if (next.kind !== "," && next.kind !== ")") throw new Error(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ",") {
        if (values.size === 0) values.add("");
        const next = this.#peek();
        if (next.kind === "," || next.kind === ")") values.add("");
      } else if (token.kind === ")") return [...values];
      else throw new Error(`found '${token.text}', expected: ',', or identifier`);
    }
  }
}

function startsRequirement(token: Token): boolean {
  return token.kind === "identifier" || token.kind === "!";
}

/** The requirements of a selector's text, in its order. Errors: `Error` with upstream's message. */
export function parseRequirements(text: string): readonly LabelRequirement[] {
  return new Parser(text).parse();
}
