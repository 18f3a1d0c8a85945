/** Who is the primary, and which history it writes; pure. */
import { electPrimary } from "@setpoint/data-service";
import { roleOf } from "./append-log-engine.ts";
import type { Seen, SeenMember } from "./seen.ts";
import { appendLogSegments } from "./server/log-data.ts";

/** What the status records before anybody is promoted. */
export interface Leader {
  readonly primary: string | undefined;
  readonly timeline: number | undefined;
}

/** A primary stays the one until its pod is gone; other data than before have a primary of their own. */
export function leaderOf(seen: Seen): Leader {
  const { primary, timeline, restored } = seen.log.status ?? {};
  const isOther = seen.data.runsOn !== undefined && seen.data.status.restored !== restored;
  if (primary === undefined || isOther) return firstLeader(seen, timeline);
  const member = seen.members.find(({ name }) => name === primary);
  if (member?.pod !== undefined || member?.claim === undefined) return { primary, timeline };
  const elected = elect(seen.members.filter((each) => hasAll(each, seen)));
  return elected === undefined ? { primary, timeline } : { primary: elected, timeline: (timeline ?? 1) + 1 };
}

/** Who has the most. What ran before in this instance may have used every timeline up to the recorded one. */
function firstLeader({ members }: Seen, timeline: number | undefined): Leader {
  const wanted = members.filter(({ claim }) => claim !== undefined);
  const all = wanted.flatMap((each) => (each.report === undefined ? [] : [{ ...each, report: each.report }]));
  const newest = Math.max(...all.map(({ report }) => report.timeline));
  const primary = all.length < wanted.length ? undefined : elect(all);
  if (primary === undefined) return { primary, timeline };
  return { primary, timeline: timeline === undefined ? newest : Math.max(newest, timeline + 1) };
}

/** A replica that lacks what the primary was known to have waits for it. */
function hasAll({ report }: SeenMember, { log: { status } }: Seen): boolean {
  return (
    report?.role === "replica" && report.timeline === status?.timeline && report.position >= (status.position ?? 0)
  );
}

/** Nobody is primary here, so that members that do not know their role count too. */
function elect(members: readonly SeenMember[]): string | undefined {
  const heard = members.flatMap(({ name, report }) =>
    report === undefined ? [] : [roleOf(name, { ...report, role: "replica" })],
  );
  const compare = (a: string, b: string): number => appendLogSegments.compare(a, b);
  const found = electPrimary(heard, { compare, members: members.length, copies: 1 });
  return "member" in found ? found.member : undefined;
}
