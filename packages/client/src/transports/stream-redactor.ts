/** Takes secrets out of text that comes in pieces, whose borders may lie in the middle of one. */
import type { Redactor } from "./redactor.ts";

/** A longer line is passed on before its end is known. */
const lineLengthMax = 64 * 1024;
/** What is kept of it, because a secret may begin there. */
const overlapLength = 8 * 1024;
/** More than the longest key has; what only looks like the beginning of one must not take everything away. */
const keyLinesMax = 400;
const keyBegin = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const keyEnd = /-----END [A-Z ]*PRIVATE KEY-----/;

/**
 * Guarantees: a line is given out when its end has come, so that a secret in it is seen as a whole; a private
 * key is taken out from its first line to its last; bytes that are no secret stay as they are, in whatever
 * encoding.
 */
export class StreamRedactor {
  readonly #redactor: Redactor;
  /** The beginning of a line, one character a byte. */
  #rest = "";
  /** Lines that may still come of a private key. */
  #keyLines = 0;
  /** The line has been replaced before its end came. */
  #dropsLine = false;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** The lines that end in this piece, and what was kept of them before; one character a byte. */
  push(bytes: Uint8Array): string {
    let text = this.#rest + binary(bytes);
    this.#rest = "";
    if (this.#dropsLine) {
      const end = text.indexOf("\n");
      if (end === -1) return "";
      text = text.slice(end);
      this.#dropsLine = false;
    }
    const end = text.lastIndexOf("\n") + 1;
    this.#rest = text.slice(end);
    return this.#cleaned(text.slice(0, end)) + this.#beginningOfLong();
  }

  /** What was kept, when nothing more comes. */
  end(): string {
    const rest = this.#rest;
    this.#rest = "";
    return this.#cleaned(rest);
  }

  #cleaned(text: string): string {
    if (text === "") return "";
    return text
      .split("\n")
      .map((line) => this.#line(line))
      .join("\n");
  }

  #line(line: string): string {
    if (this.#keyLines > 0) {
      this.#keyLines = keyEnd.test(line) ? 0 : this.#keyLines - 1;
      return "";
    }
    if (keyBegin.test(line) && !keyEnd.test(line)) this.#keyLines = keyLinesMax;
    return String(this.#redactor.redact(line));
  }

  #beginningOfLong(): string {
    if (this.#rest.length <= lineLengthMax) return "";
    const line = this.#rest;
    const cleaned = this.#line(line);
    this.#dropsLine = cleaned !== line;
    this.#rest = this.#dropsLine ? "" : line.slice(-overlapLength);
    return this.#dropsLine ? cleaned : line.slice(0, -overlapLength);
  }
}

/** One character a byte. */
export function binary(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
