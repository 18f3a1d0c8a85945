/**
 * The conditions of a namespace that is being deleted, in upstream's types, reasons and words. Clients wait
 * for them, also for those that say that nothing is wrong.
 */
import type { RemainingContent } from "./namespace-content.ts";

export interface NamespaceCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** What keeps the namespace, and what does not. */
export function conditionsOf({ remaining, refusals, finalizers }: RemainingContent): readonly NamespaceCondition[] {
  return [
    fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    fine(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    deletionOf(refusals),
    remaining.length === 0
      ? fine("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed")
      : wrong(
          "NamespaceContentRemaining",
          "SomeResourcesRemain",
          `Some resources are remaining: ${remaining.join(", ")}`,
        ),
    finalizersOf(finalizers),
  ];
}

function deletionOf(refusals: readonly string[]): NamespaceCondition {
  const type = "NamespaceDeletionContentFailure";
  if (refusals.length === 0)
    return fine(type, "ContentDeleted", "All content successfully deleted, may be waiting on finalization");
  const message = `Failed to delete all resource types, ${refusals.length} remaining: ${refusals.join(", ")}`;
  return wrong(type, "ContentDeletionFailed", message);
}

function finalizersOf(finalizers: ReadonlyMap<string, number>): NamespaceCondition {
  const type = "NamespaceFinalizersRemaining";
  if (finalizers.size === 0) return fine(type, "ContentHasNoFinalizers", "All content-preserving finalizers finished");
  const counts = [...finalizers].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const each = counts.map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${each.join(", ")}`;
  return wrong(type, "SomeFinalizersRemain", message);
}

const fine = (type: string, reason: string, message: string): NamespaceCondition => ({
  type,
  status: "False",
  reason,
  message,
});

const wrong = (type: string, reason: string, message: string): NamespaceCondition => ({
  type,
  status: "True",
  reason,
  message,
});
