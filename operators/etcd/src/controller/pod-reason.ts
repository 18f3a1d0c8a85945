import type { Seen } from "./seen.ts";

/** Why a pod does not run, in the words of its own status. */
export function podReason(seen: Seen, name: string | undefined): string {
  const pod = seen.members.find((each) => each.name === name)?.pod;
  const waiting = pod?.status?.containerStatuses?.[0]?.state?.waiting;
  if (waiting?.reason !== undefined)
    return ` (${waiting.reason}${waiting.message === undefined ? "" : `: ${waiting.message}`})`;
  const unscheduled = pod?.status?.conditions?.find((each) => each.type === "PodScheduled" && each.status === "False");
  return unscheduled?.message === undefined ? "" : ` (${unscheduled.message})`;
}
