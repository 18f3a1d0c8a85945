/**
 * The frames of SPDY/3.1, as far as kubectl uses them:
 * https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1/
 */

export type SpdyFrame =
  | { readonly kind: "data"; readonly stream: number; readonly isLast: boolean; readonly payload: Buffer }
  | { readonly kind: "open"; readonly stream: number; readonly isLast: boolean; readonly headerBlock: Buffer }
  | { readonly kind: "reset"; readonly stream: number }
  | { readonly kind: "ping"; readonly id: number }
  | { readonly kind: "goAway" }
  /** Flow control, settings and trailers: kubectl's library uses none of them. */
  | { readonly kind: "other" };

const frameHeadBytes = 8;
/** kubectl copies in pieces of 32 KiB; a longer frame is from something else. */
export const frameBytesMax: number = 1024 * 1024;
const versionOfControl = 0x8003;
const flagFin = 1;
const types = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7 } as const;
const streamIdMask = 0x7fffffff;
/** Stream, associated stream, priority and slot come before the headers. */
const openHeadBytes = 10;

/** Cuts the bytes of a connection into frames. Errors: throws on a frame that breaks the protocol. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  *read(chunk: Buffer): Generator<SpdyFrame> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      if (this.#rest.length < frameHeadBytes) return;
      const length = this.#rest.readUIntBE(5, 3);
      if (length > frameBytesMax)
        throw new Error(`Cannot read SPDY frame of ${length} bytes: limit is ${frameBytesMax}`);
      const end = frameHeadBytes + length;
      if (this.#rest.length < end) return;
      const frame = parseFrame(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
      yield frame;
    }
  }
}

function parseFrame(bytes: Buffer): SpdyFrame {
  const isLast = (bytes.readUInt8(4) & flagFin) !== 0;
  const payload = bytes.subarray(frameHeadBytes);
  const isControl = (bytes.readUInt8(0) & 0x80) !== 0;
  if (!isControl) return { kind: "data", stream: bytes.readUInt32BE(0) & streamIdMask, isLast, payload };
  const version = bytes.readUInt16BE(0);
  if (version !== versionOfControl)
    throw new Error(`Cannot read SPDY version ${version & streamIdMask & 0x7fff}: expected 3`);
  return parseControl(bytes.readUInt16BE(2), isLast, payload);
}

function parseControl(type: number, isLast: boolean, payload: Buffer): SpdyFrame {
  if (type === types.goAway) return { kind: "goAway" };
  if (type === types.ping) return { kind: "ping", id: numberAt(payload) };
  if (type === types.rstStream) return { kind: "reset", stream: numberAt(payload) & streamIdMask };
  if (type !== types.synStream) return { kind: "other" };
  if (payload.length < openHeadBytes) throw new Error("Cannot read SPDY SYN_STREAM: it is too short");
  const headerBlock = payload.subarray(openHeadBytes);
  return { kind: "open", stream: numberAt(payload) & streamIdMask, isLast, headerBlock };
}

function numberAt(payload: Buffer): number {
  if (payload.length < 4) throw new Error("Cannot read SPDY control frame: it is too short");
  return payload.readUInt32BE(0);
}

export function dataFrame(stream: number, payload: Uint8Array, isLast = false): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt32BE(stream, 0);
  head.writeUInt8(isLast ? flagFin : 0, 4);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

export function replyFrame(stream: number, headerBlock: Uint8Array): Buffer {
  return controlFrame(types.synReply, Buffer.concat([uint32(stream), headerBlock]));
}

/** Refuses or cancels a stream. */
export function resetFrame(stream: number): Buffer {
  const cancelled = 5;
  return controlFrame(types.rstStream, Buffer.concat([uint32(stream), uint32(cancelled)]));
}

export function pingFrame(id: number): Buffer {
  return controlFrame(types.ping, uint32(id));
}

function controlFrame(type: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt16BE(versionOfControl, 0);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
