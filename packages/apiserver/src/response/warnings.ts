/** Beyond this many characters in all, each further warning is cut. */
const warningTextMax = 4096;
const truncatedWarningMax = 256;
/** What all may have as bytes; further ones are left out. Clients read heads of 16 KB. */
const warningBytesMax = 8 * 1024;

/** Code, agent, quotes and comma. */
const warningOverhead = 10;

/** The warnings of one answer, each named once. */
export class Warnings {
  #texts: Set<string> | undefined;
  #length = 0;
  #bytes = 0;

  add(text: string): void {
    this.#texts ??= new Set();
    const kept = this.#length + text.length > warningTextMax ? text.slice(0, truncatedWarningMax) : text;
    if (this.#texts.has(kept)) return;
    const bytes = new TextEncoder().encode(kept).length + warningOverhead;
    if (this.#bytes + bytes > warningBytesMax) return;
    this.#texts.add(kept);
    this.#length += kept.length;
    this.#bytes += bytes;
  }

  /**
   * The value of the `warning` header: several are joined by commas, which HTTP takes for several headers.
   */
  header(): string | undefined {
    if (this.#texts === undefined) return undefined;
    return [...this.#texts].map((text) => `299 - ${quoted(text)}`).join(", ");
  }
}

function quoted(text: string): string {
  return `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll(/\p{Cc}/gu, " ")}"`;
}
