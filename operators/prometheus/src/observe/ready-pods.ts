import type { Pod } from "setpoint/kinds";

/** Whether it serves, as its node says. */
export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
}
