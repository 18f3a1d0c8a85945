/** `Terminating=True` of an object whose deletion does not end, and what holds it. */
import { messageOf, type KubeObject } from "@setpoint/apimachinery";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import type { Result } from "../controller/result.ts";
import { conditionsOf } from "./conditions.ts";
import { withinText } from "./reported-problem.ts";

/** A deletion that takes longer is reported. */
export const reportedDeletionMs = 60_000;
const conditionType = "Terminating";
/** The finalizer of a foreground deletion: the garbage collector removes it when the children are gone. */
const foregroundFinalizer = "foregroundDeletion";
const childrenMax = 3;
const messageLengthMax = 800;

/** What is known of a deletion that has not ended. */
export interface PendingDeletion {
  readonly object: KubeObject;
  /** This controller's finalizer, while its cleanup has not finished. */
  readonly cleanup: { readonly finalizer: string; readonly waitsFor: Result | { readonly error: unknown } } | undefined;
  readonly children: readonly KubeObject[];
}

/** In how many milliseconds the deletion has taken so long that it is reported. */
export function deletionReportDueMs({ metadata }: KubeObject, nowMs: number): number {
  return Math.max(0, Date.parse(metadata.deletionTimestamp ?? "") + reportedDeletionMs - nowMs);
}

/** Undefined when nothing holds the object: the server removes it. */
export function deletionCondition(deletion: PendingDeletion): ConditionInit | undefined {
  const { object, cleanup } = deletion;
  const held = cleanup === undefined ? heldByOthers(deletion) : heldByCleanup(cleanup);
  if (held === undefined) return undefined;
  const message = `Deletion requested at ${object.metadata.deletionTimestamp}. ${held.text}${childrenText(deletion)}`;
  return { type: conditionType, status: "True", reason: held.reason, message: message.slice(0, messageLengthMax) };
}

/** Whether an object says that its deletion does not end. */
export function reportsDeletion(object: KubeObject): boolean {
  const { status } = object as { readonly status?: unknown };
  return conditionsOf(status).some((each) => each.type === conditionType && each.status === "True");
}

interface Holder {
  readonly reason: string;
  readonly text: string;
}

function heldByCleanup({ finalizer, waitsFor }: NonNullable<PendingDeletion["cleanup"]>): Holder {
  const what = `Finalizer "${finalizer}" waits for the cleanup`;
  if ("error" in waitsFor)
    return { reason: "CleanupFailed", text: `${what}, which failed: ${messageOf(waitsFor.error)}.` };
  if (waitsFor.kind === "awaitChange") return { reason: "CleanupPending", text: `${what}, which waits for a change.` };
  const next = withinText(waitsFor.delayMs);
  return { reason: "CleanupPending", text: `${what}: ${waitsFor.why}. Next try ${next}.` };
}

function heldByOthers({ object }: PendingDeletion): Holder | undefined {
  const { finalizers = [] } = object.metadata;
  if (finalizers.length === 0) return undefined;
  const names = finalizers.map((each) => `"${each}"`).join(", ");
  if (finalizers.every((each) => each === foregroundFinalizer))
    return { reason: "ChildrenRemaining", text: `Finalizer ${names} waits until the children are deleted.` };
  return { reason: "FinalizersRemaining", text: `Waiting for the owners of finalizers ${names} to remove them.` };
}

function childrenText({ children }: PendingDeletion): string {
  if (children.length === 0) return "";
  const named = children.map(childText).toSorted();
  const more = named.length > childrenMax ? ", and more" : "";
  return ` Remaining children: ${named.slice(0, childrenMax).join(", ")}${more}.`;
}

function childText({ kind, metadata }: KubeObject): string {
  const { name = "", deletionTimestamp, finalizers = [] } = metadata;
  const since = deletionTimestamp === undefined ? "not being deleted" : `being deleted since ${deletionTimestamp}`;
  const held = finalizers.length === 0 ? "" : `, finalizers ${finalizers.map((each) => `"${each}"`).join(", ")}`;
  return `${kind} "${name}" (${since}${held})`;
}
