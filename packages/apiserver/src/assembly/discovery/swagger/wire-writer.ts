/** Writes protobuf's wire format: tagged numbers, texts and messages. */

/** The bytes of one or more fields. Messages inside messages are not copied until the end. */
export class WireWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  text(number: number, text: string): void {
    const bytes = Buffer.from(text);
    this.#add(lengthHeader(number, bytes.length));
    this.#add(bytes);
  }

  /** A whole number or a truth value. */
  varint(number: number, value: number): void {
    this.#add(Uint8Array.from([...varint(number * 8), ...varint(value)]));
  }

  double(number: number, value: number): void {
    const bytes = Buffer.alloc(9);
    bytes[0] = number * 8 + 1;
    bytes.writeDoubleLE(value, 1);
    this.#add(bytes);
  }

  /** A message whose fields `write` adds. */
  message(number: number, write: () => void): void {
    const slot = this.#parts.push(new Uint8Array()) - 1;
    const before = this.#length;
    write();
    const header = lengthHeader(number, this.#length - before);
    this.#parts[slot] = header;
    this.#length += header.length;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts, this.#length);
  }

  #add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}

/** The tag and the length that come before `length` bytes of a message or text. */
export function lengthHeader(number: number, length: number): Uint8Array {
  return Uint8Array.from([...varint(number * 8 + 2), ...varint(length)]);
}

/** Negative numbers are written as unsigned ones of 64 bits. */
function varint(value: number): number[] {
  if (!Number.isSafeInteger(value) || value < 0) return largeVarint(BigInt.asUintN(64, BigInt(Math.trunc(value))));
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  bytes.push(left);
  return bytes;
}

function largeVarint(value: bigint): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) + 128);
  return [...bytes, Number(left)];
}
