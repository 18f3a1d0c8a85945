import type { GroupVersionKind } from "@setpoint/apimachinery";

/**
 * Whether two kinds are the same, also by references of their own. A controller has a few kinds, which are
 * looked through sooner than a text is made for a Map of them.
 */
export function isSameKind(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.kind === b.kind && a.group === b.group && a.version === b.version;
}
