/**
 * Finds in the JSON of an object what a cache must know of it (name, UID, revision, owners) and where it is,
 * without making the values of the rest.
 */

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const colon = 0x3a;
const comma = 0x2c;
const bracketMask = 0xdf;
const open = 0x5b;
const close = 0x5d;

const decoder = new TextDecoder();
const metadataKey = bytesOf("metadata");
const nameKey = bytesOf("name");
const namespaceKey = bytesOf("namespace");
const uidKey = bytesOf("uid");
const resourceVersionKey = bytesOf("resourceVersion");
const managedFieldsKey = bytesOf("managedFields");
const ownerReferencesKey = bytesOf("ownerReferences");

/** A part of the scanned bytes; `end` is 0 when the object has no such field. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * One reader for many objects: each `scan` overwrites what the one before has found, so that reading a large
 * list makes almost no garbage. Strings are found without their quotes, lists with their brackets.
 */
export class ObjectScan {
  readonly name: ByteRange = { start: 0, end: 0 };
  readonly namespace: ByteRange = { start: 0, end: 0 };
  readonly uid: ByteRange = { start: 0, end: 0 };
  readonly resourceVersion: ByteRange = { start: 0, end: 0 };
  /** With its braces. */
  readonly metadata: ByteRange = { start: 0, end: 0 };
  hasOwners = false;
  /** With its key and one comma: without these bytes the JSON is the same but for the field. */
  readonly managedFields: ByteRange = { start: 0, end: 0 };
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #keyStart = 0;
  #keyEnd = 0;

  /**
   * Whether these bytes are an object whose metadata has a name, a UID and a revision in the form that
   * servers send.
   */
  scan(bytes: Uint8Array): boolean {
    this.#bytes = bytes;
    this.#at = 0;
    for (const each of [this.name, this.namespace, this.uid, this.resourceVersion]) each.end = 0;
    this.hasOwners = false;
    this.managedFields.end = 0;
    if (!this.#enter()) return false;
    while (this.#nextKey()) {
      if (this.#isKey(metadataKey)) return this.#scanMetadata();
      this.#skipValue();
    }
    return false;
  }

  /** `namespace/name`, or `name`. */
  key(): string {
    const name = this.#text(this.name);
    return this.namespace.end === 0 ? name : `${this.#text(this.namespace)}/${name}`;
  }

  uidText(): string {
    return this.#text(this.uid);
  }

  resourceVersionText(): string {
    return this.#text(this.resourceVersion);
  }

  #text({ start, end }: ByteRange): string {
    const text = decoder.decode(this.#bytes.subarray(start, end));
    return text.includes("\\") ? String(JSON.parse(`"${text}"`)) : text;
  }

  #scanMetadata(): boolean {
    this.metadata.start = this.#at;
    if (!this.#enter()) return false;
    while (this.#nextKey()) {
      const keyStart = this.#keyStart;
      const range = this.#rangeOfKey();
      const start = this.#at;
      this.#skipValue();
      if (range === undefined) continue;
      const isString = this.#bytes[start] === quote;
      range.start = isString ? start + 1 : start;
      range.end = isString ? this.#at - 1 : this.#at;
      if (range === this.managedFields) this.#widen(range, keyStart - 1);
    }
    this.#skipSpace();
    if (this.#bytes[this.#at] !== 0x7d) return false;
    this.metadata.end = this.#at + 1;
    return this.name.end > 0 && this.uid.end > 0 && this.resourceVersion.end > 0;
  }

  /** Takes the key into the range, and the comma on one of its sides. */
  #widen(range: ByteRange, keyStart: number): void {
    const bytes = this.#bytes;
    let [before, after] = [keyStart - 1, range.end];
    while ((bytes[after] ?? 0) <= space && after < bytes.length) after++;
    while ((bytes[before] ?? 0) <= space && before > 0) before--;
    range.start = keyStart;
    if (bytes[after] === comma) range.end = after + 1;
    else if (bytes[before] === comma) range.start = before;
  }

  #rangeOfKey(): ByteRange | undefined {
    switch (this.#keyEnd - this.#keyStart) {
      case 3:
        return this.#isKey(uidKey) ? this.uid : undefined;
      case 4:
        return this.#isKey(nameKey) ? this.name : undefined;
      case 9:
        return this.#isKey(namespaceKey) ? this.namespace : undefined;
      case 13:
        return this.#isKey(managedFieldsKey) ? this.managedFields : undefined;
      case 15:
        if (this.#isKey(resourceVersionKey)) return this.resourceVersion;
        this.hasOwners ||= this.#isKey(ownerReferencesKey);
        return undefined;
      default:
        return undefined;
    }
  }

  #isKey(key: Uint8Array): boolean {
    const start = this.#keyStart;
    if (this.#keyEnd - start !== key.length) return false;
    for (let i = 0; i < key.length; i++) if (this.#bytes[start + i] !== key[i]) return false;
    return true;
  }

  /** Goes behind the brace that opens an object. */
  #enter(): boolean {
    this.#skipSpace();
    return this.#bytes[this.#at++] === 0x7b;
  }

  /** Reads the next key and goes to its value; false at the object's end. */
  #nextKey(): boolean {
    this.#skipSpace();
    if (this.#bytes[this.#at] === comma) {
      this.#at++;
      this.#skipSpace();
    }
    if (this.#bytes[this.#at] !== quote) return false;
    this.#keyStart = this.#at + 1;
    this.#skipString();
    this.#keyEnd = this.#at - 1;
    this.#skipSpace();
    if (this.#bytes[this.#at] !== colon) return false;
    this.#at++;
    this.#skipSpace();
    return true;
  }

  #skipValue(): void {
    const bytes = this.#bytes;
    const first = bytes[this.#at] ?? 0;
    if (first === quote) return this.#skipString();
    if ((first & bracketMask) !== open) return this.#skipScalar();
    let depth = 0;
    while (this.#at < bytes.length) {
      const byte = bytes[this.#at] ?? 0;
      if (byte === quote) {
        this.#skipString();
        continue;
      }
      this.#at++;
      if ((byte & bracketMask) === open) depth++;
      else if ((byte & bracketMask) === close && --depth === 0) return;
    }
  }

  #skipString(): void {
    const bytes = this.#bytes;
    const length = bytes.length;
    let at = this.#at + 1;
    let byte = 0;
    while (at < length && (byte = bytes[at] ?? 0) !== quote) at += byte === backslash ? 2 : 1;
    this.#at = at + 1;
  }

  /** A number, true, false or null. */
  #skipScalar(): void {
    const bytes = this.#bytes;
    while (this.#at < bytes.length) {
      const byte = bytes[this.#at] ?? 0;
      if (byte === comma || (byte & bracketMask) === close || byte <= space) return;
      this.#at++;
    }
  }

  #skipSpace(): void {
    while (this.#at < this.#bytes.length && (this.#bytes[this.#at] ?? 0) <= space) this.#at++;
  }
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
