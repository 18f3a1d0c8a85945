/** Reads the wire format of protobuf: a sequence of tagged varints, fixed numbers and byte strings. */
import { SetpointError } from "@setpoint/apimachinery";
import { refusalOf } from "../../request/body-bounds.ts";
import { bodyValuesMax } from "../../request/value-bounds.ts";

/** A varint has at most ten bytes of seven bits. */
const maxVarintBits = 70n;

export type WireValue =
  | { readonly kind: "varint"; readonly value: bigint }
  | { readonly kind: "fixed"; readonly bytes: Uint8Array }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array };

export interface WireField {
  readonly number: number;
  readonly value: WireValue;
}

/**
 * All fields of a message in the order of the wire. Errors: `ERR_PROTOBUF`; `ApiError` 413 for more fields
 * than may be.
 */
export function readFields(bytes: Uint8Array, fieldsMax: number = bodyValuesMax): readonly WireField[] {
  const fields: WireField[] = [];
  const cursor = { offset: 0 };
  while (cursor.offset < bytes.length) {
    if (fields.length >= fieldsMax) throw refusalOf("values");
    const tag = readVarint(bytes, cursor);
    fields.push({ number: Number(tag >> 3n), value: readValue(bytes, cursor, Number(tag & 7n)) });
  }
  return fields;
}

export function readVarints(bytes: Uint8Array, numbersMax: number): readonly bigint[] {
  const values: bigint[] = [];
  const cursor = { offset: 0 };
  while (cursor.offset < bytes.length) {
    if (values.length >= numbersMax) throw refusalOf("values");
    values.push(readVarint(bytes, cursor));
  }
  return values;
}

function readValue(bytes: Uint8Array, cursor: { offset: number }, wireType: number): WireValue {
  switch (wireType) {
    case 0:
      return { kind: "varint", value: readVarint(bytes, cursor) };
    case 1:
      return { kind: "fixed", bytes: take(bytes, cursor, 8) };
    case 2:
      return { kind: "bytes", bytes: take(bytes, cursor, Number(readVarint(bytes, cursor))) };
    case 5:
      return { kind: "fixed", bytes: take(bytes, cursor, 4) };
    default:
      throw malformed(`wire type ${wireType}`);
  }
}

function readVarint(bytes: Uint8Array, cursor: { offset: number }): bigint {
  let value = 0n;
  for (let shift = 0n; shift < maxVarintBits; shift += 7n) {
    const byte = bytes[cursor.offset++];
    if (byte === undefined) throw malformed("a number that is cut off");
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw malformed("a number of more than ten bytes");
}

function take(bytes: Uint8Array, cursor: { offset: number }, length: number): Uint8Array {
  const end = cursor.offset + length;
  if (end > bytes.length) throw malformed(`a field of ${length} bytes where ${bytes.length - cursor.offset} are left`);
  const taken = bytes.subarray(cursor.offset, end);
  cursor.offset = end;
  return taken;
}

export function malformed(what: string): SetpointError {
  return new SetpointError("ERR_PROTOBUF", `Cannot decode protobuf: found ${what}`);
}
