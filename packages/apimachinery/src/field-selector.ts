/** Field selectors: `metadata.name=a,status.phase!=Running`, all of which must hold. */

export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/**
 * A parsed field selector: an object matches when all requirements hold. Without requirements every object
 * matches.
 */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
}

const operatorsLongestFirst = ["!=", "==", "="] as const;

/**
 * Parses a field selector; `\` escapes `,`, `=` and itself. Errors: `Error` with upstream's message, for a
 * 400.
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = splitTerms(text)
    .filter((term) => term !== "")
    .sort()
    .map((term) => parseTerm(text, term));
  return { requirements };
}

/** Splits at commas that are not escaped. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = "";
  let isEscaped = false;
  for (const character of text) {
    if (!isEscaped && character === ",") {
      terms.push(term);
      term = "";
      continue;
    }
    term += character;
    isEscaped = !isEscaped && character === "\\";
  }
  return [...terms, term];
}

function parseTerm(selector: string, term: string): FieldRequirement {
  for (let at = 0; at < term.length; at++) {
    const operator = operatorsLongestFirst.find((each) => term.startsWith(each, at));
    if (operator === undefined) continue;
    const value = unescape(term.slice(at + operator.length));
    return { field: term.slice(0, at), operator: operator === "!=" ? "!=" : "=", value };
  }
  throw new Error(`invalid selector: '${selector}'; can't understand '${term}'`);
}

function unescape(text: string): string {
  let value = "";
  let isEscaped = false;
  for (const character of text) {
    const isSpecial = character === "\\" || character === "," || character === "=";
    if (isEscaped) {
      if (!isSpecial) throw new Error(`invalid field selector: invalid escape sequence: \\${character}`);
      value += character;
      isEscaped = false;
    } else if (character === "\\") isEscaped = true;
    else if (isSpecial) {
      throw new Error(`invalid field selector: unescaped character in value: ${character.codePointAt(0)}`);
    } else value += character;
  }
  if (isEscaped) throw new Error("invalid field selector: invalid escape sequence: \\");
  return value;
}

/** Whether an object's selectable fields match; a field that is not in the record counts as empty. */
export function matchesFields(selector: FieldSelector, fields: Readonly<Record<string, string>>): boolean {
  return selector.requirements.every(
    ({ field, operator, value }) =>
      ((Object.hasOwn(fields, field) ? fields[field] : "") === value) === (operator === "="),
  );
}

/** The selector as text, with values escaped. */
export function formatFieldSelector({ requirements }: FieldSelector): string {
  return requirements
    .map(({ field, operator, value }) => `${field}${operator}${value.replaceAll(/[\\,=]/g, String.raw`\$&`)}`)
    .join(",");
}
