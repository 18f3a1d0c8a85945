import type { KindRef } from "@setpoint/client";

/** Under which the API server stores the objects of a kind. */
export function prefixOf({ group, plural }: KindRef): string {
  return group === "" ? `/${plural}` : `/${group}/${plural}`;
}
