/**
 * How urgent a key is. Changes are `normal`; what nobody waits for (the first list after a start, periodic
 * resyncs) is `low`, so that a change right after a restart does not wait behind everything that there is.
 */
export type Priority = "high" | "normal" | "low";

/** From the most to the least urgent. */
export const priorities: readonly Priority[] = ["high", "normal", "low"];

/** What dashboards of controller-runtime show: changes are 0, the first list is −100. */
export const priorityNumbers: Readonly<Record<Priority, number>> = { high: 100, normal: 0, low: -100 };

/** The more urgent of two. */
export function maxPriority(a: Priority, b: Priority): Priority {
  return priorityNumbers[a] >= priorityNumbers[b] ? a : b;
}
