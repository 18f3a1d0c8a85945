/** Who the primary is, was and becomes, as the status says it before the step that makes it so; pure. */
import type { StepFacts } from "setpoint";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import type { Actions, PostgresStep } from "../plan/postgres-step.ts";
import { acceptsWrites, instanceNamed, isStandby, primaryOf, type Seen } from "../seen/seen.ts";
import type { UpgradeStatus } from "../seen/upgrade.ts";
import { present } from "./present.ts";

type Status = NonNullable<PostgresCluster["status"]>;
type History = Pick<Status, "lastFailover" | "lastSwitchover">;
type Succession = History &
  Pick<
    Status,
    "primary" | "formerPrimary" | "term" | "candidate" | "handover" | "lastServing" | "lastPosition" | "lastTimeline"
  >;

export function succession(seen: Seen, step: PostgresStep, { now }: StepFacts): Succession {
  if (step.kind !== "act") return unchanged(seen);
  switch (step.action) {
    case "depose":
      return deposed(seen, step.args);
    case "appoint":
      return appointed(seen, step.args, { at: now, why: step.reason });
    // Nobody has written to these data yet, and what was known of others counts no more.
    case "startRestored":
      return onOtherData(seen, step.args.primary);
    case "goBack":
      return onOtherData(seen, seen.cluster.status?.previousData?.primary);
    case "startOnVersion":
      return onOtherVersion(seen, step.args.upgrade);
    default:
      return unchanged(seen);
  }
}

function deposed({ cluster, memory }: Seen, { primary, handover, candidate }: Actions["depose"]): Succession {
  const { term = 0, formerPrimary, lastServing, lastPosition, lastTimeline } = cluster.status ?? {};
  // The former primary is forgotten as soon as the next one accepts writes.
  const hasServed = formerPrimary === undefined;
  return {
    ...historyOf(cluster),
    ...present({ candidate, lastServing: hasServed ? primary : lastServing }),
    formerPrimary: primary,
    term: term + 1,
    handover,
    ...present({
      lastPosition: memory.lastPosition ?? lastPosition,
      lastTimeline: newest(memory.lastTimeline, lastTimeline),
    }),
  };
}

function appointed(
  seen: Seen,
  { primary: to, lostAtMost }: Actions["appoint"],
  { at, why }: { readonly at: string; readonly why: string },
): Succession {
  const { cluster } = seen;
  const { formerPrimary, term = 1, candidate, handover, waitingFor, lastServing, lastTimeline } = cluster.status ?? {};
  const from = lastServing ?? formerPrimary ?? "";
  const ended = {
    failover: {
      lastFailover: {
        from,
        to,
        at,
        reason: waitingFor?.what ?? why,
        ...present({ lostAtMost: lossOf(cluster, lostAtMost) }),
      },
    },
    switchover: { lastSwitchover: { from, to, at, request: candidate ?? to } },
  };
  return {
    ...historyOf(cluster),
    ...present({ formerPrimary, lastServing }),
    ...(handover === undefined ? {} : ended[handover]),
    primary: to,
    term,
    ...present({ lastTimeline: newest(lastTimeline, promotedTimeline(seen, to)) }),
  };
}

/**
 * What is missing of the log as far as the old primary reported it; and what it committed later, which nobody
 * knows unless replicas had to have it. One that was appointed since, and died before it was seen to accept
 * writes, may have accepted some.
 */
function lossOf({ spec, status }: PostgresCluster, known: string | undefined): string | undefined {
  if (spec.synchronous?.durability === "required") return known;
  const { formerPrimary = "", lastServing = formerPrimary, lastPosition } = status ?? {};
  const later = `what ${lastServing} committed after ${lastPosition ?? "its last report"}`;
  const unseen = formerPrimary === lastServing ? undefined : `what ${formerPrimary} committed, if it was promoted`;
  return [known, unseen, later].filter((each) => each !== undefined).join(", and ");
}

/** A replica that dies right after its promotion reports it to nobody, and nobody may begin the same one. */
function promotedTimeline(seen: Seen, name: string): number | undefined {
  const instance = instanceNamed(seen, name);
  const timeline = instance?.report?.timeline;
  return instance === undefined || timeline === undefined || !isStandby(instance) ? undefined : timeline + 1;
}

function newest(...timelines: readonly (number | undefined)[]): number | undefined {
  const known = timelines.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function onOtherData({ cluster }: Seen, primary: string | undefined): Succession {
  return { ...historyOf(cluster), ...present({ primary }), term: (cluster.status?.term ?? 0) + 1 };
}

/** No replica of the other version has the new timeline, so none is promoted. */
function onOtherVersion(seen: Seen, { instance, timeline }: UpgradeStatus): Succession {
  const { lastTimeline } = seen.cluster.status ?? {};
  return { ...onOtherData(seen, instance), ...present({ lastTimeline: newest(timeline, lastTimeline) }) };
}

function unchanged(seen: Seen): Succession {
  const { status } = seen.cluster;
  const current = primaryOf(seen);
  const isInOffice = current !== undefined && acceptsWrites(current);
  return {
    ...historyOf(seen.cluster),
    ...present({
      primary: status?.primary,
      formerPrimary: isInOffice ? undefined : status?.formerPrimary,
      term: status?.term,
      candidate: status?.candidate,
      handover: status?.handover,
      lastServing: isInOffice ? current.name : status?.lastServing,
      lastPosition: status?.lastPosition,
      lastTimeline: status?.lastTimeline,
    }),
  };
}

function historyOf({ status }: PostgresCluster): History {
  return present({ lastFailover: status?.lastFailover, lastSwitchover: status?.lastSwitchover });
}
