/** An error in an expression, with its position; printed as cel-go prints it. */
export interface Issue {
  /** Index in the source, in UTF-16 units. */
  readonly at: number;
  readonly message: string;
}

/** Lines longer than this are not quoted. */
const snippetLengthMax = 16384;

/** `ERROR: <input>:1:6: undeclared reference to 'x' (in container '')` with the line and a caret below it. */
export function issueText(source: string, { at, message }: Issue): string {
  const { line, column, snippet } = locate(source, at);
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  if (snippet.length > snippetLengthMax) return head;
  const characters = Array.from(snippet.replaceAll("\t", " "));
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? "\uff0e" : "."));
  const pointer = isWide(characters[column]) ? "\uff3e" : "^";
  return `${head}\n | ${characters.join("")}\n | ${dots.join("")}${pointer}`;
}

/** All issues in the order of their places, one under the other. */
export function issuesText(source: string, issues: readonly Issue[]): string {
  return issues
    .toSorted((a, b) => a.at - b.at)
    .map((issue) => issueText(source, issue))
    .join("\n");
}

function isWide(character: string | undefined): boolean {
  return character !== undefined && (character.codePointAt(0) ?? 0) > 0x7f;
}

function locate(source: string, at: number): { line: number; column: number; snippet: string } {
  const before = source.slice(0, at);
  const line = before.split("\n").length;
  const start = before.lastIndexOf("\n") + 1;
  const column = Array.from(before.slice(start)).length;
  return { line, column, snippet: source.split("\n")[line - 1] ?? "" };
}
