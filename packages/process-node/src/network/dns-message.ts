/** As much of RFC 1035 as a small authoritative server needs: one question in, answers out. */

export const dnsTypes = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, AAAA: 28, SRV: 33, ANY: 255 } as const;

export interface DnsQuestion {
  readonly id: number;
  readonly recursionDesired: boolean;
  /** Lower case, without the last dot. */
  readonly name: string;
  readonly type: number;
  /** The question as it stood, to be repeated in the answer. */
  readonly bytes: Uint8Array;
}

export type DnsRecord =
  | { readonly name: string; readonly type: "A"; readonly address: string }
  | { readonly name: string; readonly type: "CNAME" | "PTR"; readonly target: string }
  | { readonly name: string; readonly type: "SRV"; readonly port: number; readonly target: string };

export interface DnsAnswer {
  /** 0 no error, 2 server failure, 3 no such name, 5 refused. */
  readonly code: 0 | 2 | 3 | 5;
  readonly records: readonly DnsRecord[];
}

const headerBytes = 12;
const ttlSeconds = 5;
/** What fits into a UDP answer without EDNS. */
export const udpAnswerBytesMax = 512;

/** Undefined for anything but a query with one question. */
export function parseQuestion(message: Buffer): DnsQuestion | undefined {
  if (message.length < headerBytes + 5) return undefined;
  const flags = message.readUInt16BE(2);
  const isQuery = (flags & 0x8000) === 0 && ((flags >> 11) & 0xf) === 0;
  if (!isQuery || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = headerBytes;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63) return undefined;
    at++;
    if (length === 0) break;
    labels.push(message.toString("latin1", at, at + length));
    at += length;
  }
  if (at + 4 > message.length) return undefined;
  const type = message.readUInt16BE(at);
  const bytes = message.subarray(headerBytes, at + 4);
  return {
    id: message.readUInt16BE(0),
    recursionDesired: (flags & 0x100) !== 0,
    name: labels.join(".").toLowerCase(),
    type,
    bytes,
  };
}

export function encodeAnswer(question: DnsQuestion, answer: DnsAnswer, bytesMax: number): Buffer {
  const records = answer.records.map(encodeRecord);
  const size = headerBytes + question.bytes.length + records.reduce((sum, { length }) => sum + length, 0);
  const isTruncated = size > bytesMax;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(question.id, 0);
  // Response, authoritative, truncated?, recursion as asked, recursion available, code.
  header.writeUInt16BE(0x8480 | (isTruncated ? 0x200 : 0) | (question.recursionDesired ? 0x100 : 0) | answer.code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(isTruncated ? 0 : records.length, 6);
  return Buffer.concat([header, question.bytes, ...(isTruncated ? [] : records)]);
}

function encodeRecord(record: DnsRecord): Buffer {
  const name = encodeName(record.name);
  const data = recordData(record);
  const middle = Buffer.alloc(10);
  middle.writeUInt16BE(dnsTypes[record.type], 0);
  middle.writeUInt16BE(1, 2);
  middle.writeUInt32BE(ttlSeconds, 4);
  middle.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, middle, data]);
}

function recordData(record: DnsRecord): Buffer {
  if (record.type === "A") return Buffer.from(record.address.split(".").map(Number));
  if (record.type !== "SRV") return encodeName(record.target);
  const numbers = Buffer.alloc(6);
  // Priority 0, weight 100, as CoreDNS answers.
  numbers.writeUInt16BE(100, 2);
  numbers.writeUInt16BE(record.port, 4);
  return Buffer.concat([numbers, encodeName(record.target)]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]),
    Buffer.from([0]),
  ]);
}
