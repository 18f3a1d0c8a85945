/**
 * Reads DER that a stranger wrote: every length is checked against what is there, and nothing is read twice.
 */
import { CertificateError } from "./certificate-error.ts";

export interface DerValue {
  readonly tag: number;
  /** With tag and length. */
  readonly raw: Uint8Array;
  readonly content: Uint8Array;
}

/** Lengths take at most this many bytes: more than any certificate has. */
const lengthBytesMax = 4;

/**
 * The value that begins at `at`; throws a `CertificateError` for what is cut off or written otherwise than
 * DER has it.
 */
export function readDer(bytes: Uint8Array, at = 0): DerValue {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw malformed();
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > lengthBytesMax) throw malformed();
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[start + i] ?? 0);
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) throw malformed();
  return { tag, raw: bytes.subarray(at, end), content: bytes.subarray(start, end) };
}

/** The values within a sequence or a set. */
export function readChildren({ content }: DerValue): readonly DerValue[] {
  const children: DerValue[] = [];
  for (let at = 0; at < content.length;) {
    const child = readDer(content, at);
    children.push(child);
    at += child.raw.length;
  }
  return children;
}

/** The children of a value that must have this tag. */
export function childrenOf(value: DerValue | undefined, tag: number): readonly DerValue[] {
  if (value?.tag !== tag) throw malformed();
  return readChildren(value);
}

export function readObjectIdentifier(value: DerValue | undefined): string {
  if (value?.tag !== 0x06) throw malformed();
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of value.content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) arcs.push(Math.min(Math.floor(arc / 40), 2), arc - Math.min(Math.floor(arc / 40), 2) * 40);
    else arcs.push(arc);
    arc = 0;
  }
  return arcs.join(".");
}

export function malformed(): CertificateError {
  return new CertificateError("Cannot read the certificate request: it is not well-formed DER");
}
