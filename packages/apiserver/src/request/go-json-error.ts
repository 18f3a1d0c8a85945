/** What Go's decoder says of a text that is no JSON: clients and users know and search for its words. */

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const spaces = " \t\r\n";
const digits = "0123456789";

/** `invalid character 'x' looking for beginning of value`; undefined for JSON. */
export function goJsonError(bytes: Uint8Array): string | undefined {
  try {
    new Scanner(bytes).whole();
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxFault) return error.message;
    throw error;
  }
}

class SyntaxFault extends Error {}

class Scanner {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  whole(): void {
    this.#value();
    this.#skipSpaces();
    if (this.#at < this.#bytes.length) throw this.#fault("after top-level value");
  }

  #value(): void {
    const first = this.#nextAfterSpaces();
    if (first === openBrace) return this.#members();
    if (first === openBracket) return this.#items();
    if (first === quote) return this.#string();
    if (first === 0x2d || this.#isAt(digits)) return this.#number();
    const word = ["true", "false", "null"].find((each) => each.charCodeAt(0) === first);
    if (word === undefined) throw this.#fault("looking for beginning of value");
    this.#word(word);
  }

  #members(): void {
    this.#at++;
    if (this.#nextAfterSpaces() === closeBrace) return this.#advance();
    for (;;) {
      if (this.#nextAfterSpaces() !== quote) throw this.#fault("looking for beginning of object key string");
      this.#string();
      if (this.#nextAfterSpaces() !== colon) throw this.#fault("after object key");
      this.#at++;
      this.#value();
      if (this.#endsAfter(closeBrace, "after object key:value pair")) return;
    }
  }

  #items(): void {
    this.#at++;
    if (this.#nextAfterSpaces() === closeBracket) return this.#advance();
    do this.#value();
    while (!this.#endsAfter(closeBracket, "after array element"));
  }

  /** Takes the comma or the end. */
  #endsAfter(end: number, where: string): boolean {
    const next = this.#nextAfterSpaces();
    if (next !== comma && next !== end) throw this.#fault(where);
    this.#at++;
    return next === end;
  }

  #string(): void {
    this.#at++;
    for (;;) {
      const byte = this.#next();
      if (byte < 0x20) throw this.#fault("in string literal");
      this.#at++;
      if (byte === quote) return;
      if (byte === backslash) this.#escape();
    }
  }

  #escape(): void {
    this.#next();
    if (!this.#isAt('bfnrt\\/"u')) throw this.#fault("in string escape code");
    const isUnicode = this.#isAt("u");
    this.#at++;
    for (let count = 0; isUnicode && count < 4; count++)
      this.#take(`${digits}abcdefABCDEF`, "in \\u hexadecimal character escape");
  }

  #number(): void {
    if (this.#isAt("-")) this.#at++;
    const hasZero = this.#isAt("0");
    this.#take(digits, "in numeric literal");
    if (!hasZero) this.#skip(digits);
    if (this.#isAt(".")) {
      this.#at++;
      this.#take(digits, "after decimal point in numeric literal");
      this.#skip(digits);
    }
    if (!this.#isAt("eE")) return;
    this.#at++;
    if (this.#isAt("+-")) this.#at++;
    this.#take(digits, "in exponent of numeric literal");
    this.#skip(digits);
  }

  #word(word: string): void {
    for (const character of word) this.#take(character, `in literal ${word} (expecting '${character}')`);
  }

  #take(characters: string, where: string): void {
    this.#next();
    if (!this.#isAt(characters)) throw this.#fault(where);
    this.#at++;
  }

  #advance(): void {
    this.#at++;
  }

  #isAt(characters: string): boolean {
    const byte = this.#bytes[this.#at];
    return byte !== undefined && characters.includes(String.fromCharCode(byte));
  }

  #skip(characters: string): void {
    while (this.#isAt(characters)) this.#at++;
  }

  #skipSpaces(): void {
    this.#skip(spaces);
  }

  #nextAfterSpaces(): number {
    this.#skipSpaces();
    return this.#next();
  }

  #next(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new SyntaxFault("unexpected end of JSON input");
    return byte;
  }

  /** Go takes the byte for a character. */
  #fault(where: string): SyntaxFault {
    const character = String.fromCharCode(this.#bytes[this.#at] ?? 0);
    const shown = character === "'" ? "\\'" : character === '"' ? '"' : JSON.stringify(character).slice(1, -1);
    return new SyntaxFault(`invalid character '${shown}' ${where}`);
  }
}
