/** Names of the segments of PostgreSQL's log: timeline, and two halves of the number, in hexadecimal. */
import { positionOf } from "../instance/instance-protocol.ts";

/** initdb's default; the operator sets no other. */
export const segmentBytes = 16 << 20;
const segmentsInHalf = 0x1_0000_0000n / BigInt(segmentBytes);
const digits = 8;

function segmentName(timeline: number, number: bigint): string {
  const parts = [BigInt(timeline), number / segmentsInHalf, number % segmentsInHalf];
  return parts.map((part) => part.toString(16).toUpperCase().padStart(digits, "0")).join("");
}

/** The segments that hold the log from `start` to before `end`. */
export function segmentsBetween(timeline: number, start: string, end: string): readonly string[] {
  const size = BigInt(segmentBytes);
  const first = positionOf(start) / size;
  const last = (positionOf(end) - 1n) / size;
  return Array.from({ length: Number(last - first) + 1 }, (_, at) => segmentName(timeline, first + BigInt(at)));
}

/** The timeline and the first position of a segment; undefined when it is no name of one. */
export function readSegmentName(name: string): { readonly timeline: number; readonly start: bigint } | undefined {
  const [, timeline, half, number] = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/.exec(name) ?? [];
  if (timeline === undefined) return undefined;
  const index = BigInt(`0x${half}`) * segmentsInHalf + BigInt(`0x${number}`);
  return { timeline: Number.parseInt(timeline, 16), start: index * BigInt(segmentBytes) };
}

/** `0/3000148`, as PostgreSQL writes it. */
export function positionText(position: bigint): string {
  return `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase();
}
