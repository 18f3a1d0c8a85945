/** How a deletion marks an object that is not removed at once. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { type Clock, timestamp, timestampAt } from "@setpoint/host";
import type { DeleteOptions } from "../request/delete-options.ts";
import { finalizersForDeletion } from "./garbage-finalizers.ts";
import type { MutableMeta } from "../registry/mutable-object.ts";
import type { Strategy } from "../registry/resource-definition.ts";

export type MarkOptions = Pick<DeleteOptions, "gracePeriodSeconds" | "propagationPolicy" | "orphanDependents">;

/** Whether nothing keeps a marked object: watchers see the mark, and then that it is gone. */
export function goesAtOnce({ metadata }: UnstructuredObject): boolean {
  return metadata.deletionGracePeriodSeconds === 0 && (metadata.finalizers ?? []).length === 0;
}

/**
 * What a deletion does to an object: it goes, it is marked and waits for finalizers or its grace period, or
 * nothing.
 */
export function markDeleted(
  clock: Clock,
  strategy: Strategy,
  old: UnstructuredObject,
  options: MarkOptions,
): UnstructuredObject | "delete" | "keep" {
  const metadata: MutableMeta = { ...old.metadata };
  const object = { ...old, metadata };
  const isMarked = old.metadata.deletionTimestamp !== undefined;
  // A Namespace only terminates at first, and nothing more happens to it until it is finalized.
  const terminates = strategy.hasOtherFinalizers !== undefined && !isMarked;
  if (isMarked && strategy.hasOtherFinalizers?.(old) === true) return "keep";
  const grace = gracePeriod(clock, metadata, old, options, strategy);
  if (grace === "pending") return "keep";
  const { finalizers, changed } = finalizersForDeletion(old, options, strategy);
  if (changed) setFinalizers(metadata, finalizers);
  const waits = finalizers.length > 0;
  if (!waits && !terminates && grace === undefined) return "delete";
  if (terminates) metadata.deletionTimestamp = timestamp(clock);
  if (metadata.deletionTimestamp === undefined) markAt(metadata, timestamp(clock));
  // Kinds without graceful deletion wait for finalizers with a period of zero; a terminating Namespace has
  // none at all.
  if (grace === undefined && !terminates) metadata.deletionGracePeriodSeconds = 0;
  if (!isMarked) strategy.onMarkedDeleted?.(object);
  return object;
}

/** No finalizers are not an empty list: the real server leaves it out. */
function setFinalizers(metadata: MutableMeta, finalizers: readonly string[]): void {
  if (finalizers.length === 0) delete metadata.finalizers;
  else metadata.finalizers = finalizers;
}

function markAt(metadata: MutableMeta, time: string): void {
  metadata.deletionTimestamp = time;
  if ((metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
}

/** Sets the time of a graceful deletion; undefined when the deletion is immediate. */
function gracePeriod(
  clock: Clock,
  metadata: MutableMeta,
  old: UnstructuredObject,
  options: MarkOptions,
  strategy: Strategy,
): number | "pending" | undefined {
  if (strategy.deletionGraceSeconds === undefined) return undefined;
  const now = timestamp(clock);
  if (metadata.deletionTimestamp !== undefined) return shortenedGrace(metadata, now, options.gracePeriodSeconds);
  const seconds = strategy.deletionGraceSeconds(old, options.gracePeriodSeconds);
  if (seconds === undefined) return undefined;
  markAt(metadata, shifted(now, seconds));
  metadata.deletionGracePeriodSeconds = seconds;
  return seconds;
}

/**
 * A second request may only shorten the time, and not to one that has passed; otherwise the first one is
 * pending.
 */
function shortenedGrace(metadata: MutableMeta, now: string, asked: number | undefined): number | "pending" | undefined {
  const { deletionTimestamp = now, deletionGracePeriodSeconds: before = 0 } = metadata;
  if (before === 0) return undefined;
  const requested = asked !== undefined && asked < 0 ? 1 : asked;
  if (requested === undefined || requested >= before) return "pending";
  const end = shifted(deletionTimestamp, requested - before);
  const isPast = end < now;
  // The agent that terminates the pod must see the new deadline before the deletion.
  const seconds = isPast && requested !== 0 ? 1 : requested;
  metadata.deletionTimestamp = isPast ? now : end;
  metadata.deletionGracePeriodSeconds = seconds;
  return seconds;
}

/** The last second of the year 9999: a client chooses the seconds, and RFC 3339 has no later time. */
const latestMs = 253_402_300_799_000;

function shifted(time: string, seconds: number): string {
  return timestampAt(Math.min(Date.parse(time) + seconds * 1000, latestMs));
}
