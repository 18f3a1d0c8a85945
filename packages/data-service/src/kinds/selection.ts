import type { KindRef } from "setpoint";

/**
 * The field selector of objects about instances of this kind. A controller sees no others, so it writes none.
 */
export function selectionOf({ group, kind }: KindRef): string {
  return `spec.instance.apiGroup=${group},spec.instance.kind=${kind}`;
}
