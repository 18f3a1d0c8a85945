/** Beyond this many characters in all, each further warning is cut. */
const warningTextMax = 4096;
const truncatedWarningMax = 256;

/** The warnings of one answer, each named once. */
export class Warnings {
  #texts: Set<string> | undefined;
  #length = 0;

  add(text: string): void {
    this.#texts ??= new Set();
    const kept = this.#length + text.length > warningTextMax ? text.slice(0, truncatedWarningMax) : text;
    if (this.#texts.has(kept)) return;
    this.#texts.add(kept);
    this.#length += kept.length;
  }

  /** The value of the `warning` header: several are joined by commas, which HTTP takes for several headers. */
  header(): string | undefined {
    if (this.#texts === undefined) return undefined;
    return [...this.#texts].map((text) => `299 - ${quoted(text)}`).join(", ");
  }
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", " ")}"`;
}
