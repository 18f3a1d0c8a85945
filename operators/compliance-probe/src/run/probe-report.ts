/**
 * What a container of a run reports, as its termination message: the operator needs no right to read logs.
 * All containers of a pod share 12 KiB, so the reasons are shortened until they fit.
 */
import { z } from "zod";
import type { Attempt } from "../acts/act.ts";

/** Of a kubelet: for one container, and for all of a pod. */
const messageBytesMax = 4_096;
const podMessageBytesMax = 12 * 1_024;
const ellipsis = "…";

const schema = z.record(z.string(), z.tuple([z.enum(["Denied", "Allowed", "Untried"]), z.string()]));

/** How long the report of each container may be. */
export function reportBytesMax(containers: number): number {
  return Math.min(messageBytesMax, Math.floor(podMessageBytesMax / Math.max(1, containers)));
}

/** Attempts by the names of their acts, as text of at most so many bytes. */
export function reportText(attempts: ReadonlyMap<string, Attempt>, bytesMax: number): string {
  let lengthMax = bytesMax;
  for (;;) {
    const text = JSON.stringify(
      Object.fromEntries([...attempts].map(([act, { verdict, reason }]) => [act, [verdict, cut(reason, lengthMax)]])),
    );
    if (Buffer.byteLength(text) <= bytesMax || lengthMax === 0) return text;
    lengthMax = Math.floor(lengthMax * 0.9);
  }
}

/** Undefined for text that is no report, such as the log of a program that failed. */
export function parseReport(text: string): ReadonlyMap<string, Attempt> | undefined {
  try {
    const report = schema.parse(JSON.parse(text));
    return new Map(Object.entries(report).map(([act, [verdict, reason]]) => [act, { verdict, reason }]));
  } catch {
    return undefined;
  }
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, Math.max(0, lengthMax - 1))}${ellipsis}`;
}
