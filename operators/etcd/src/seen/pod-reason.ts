import { failureText } from "setpoint/pods";
import type { Seen, SeenMember } from "./seen.ts";

/** Why a member's pod does not run, in parentheses; empty when nothing is known. */
export function podReason(seen: Seen, name: string | undefined): string {
  const failure = seen.members.find((each) => each.name === name)?.failure;
  return failure === undefined ? "" : ` (${failureText(failure)})`;
}

/** The first of these members whose pod has a problem, and what it is, in parentheses. */
export function firstReason(seen: Seen, names: readonly string[]): string {
  const found = names.find((name) => seen.members.some((each) => each.name === name && each.failure !== undefined));
  return found === undefined ? "" : podReason(seen, found).replace("(", `(${found}: `);
}

/** What its pod reports of its end; empty when nothing is known. */
export function endReason({ failure }: SeenMember): string {
  return failure === undefined ? "" : `: ${failureText(failure)}`;
}
