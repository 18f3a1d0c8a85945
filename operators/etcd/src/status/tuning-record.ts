/** Which timeouts follow from what was measured between members; pure. */
import type { StepFacts } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { electionMsDefault, heartbeatMsDefault } from "../kind/tuning.ts";
import type { Situation } from "../plan/situation.ts";

type Tuning = NonNullable<NonNullable<EtcdCluster["status"]>["tuning"]>;

/** Timeouts that differ by less stay as they are: each change restarts all members. */
const factorMin = 1.5;
/** etcd's tuning guide: a heartbeat is about one round trip, an election at least ten of them. */
const heartbeatsPerElection = 10;
const roundToMs = 50;
/** etcd refuses longer elections. */
const heartbeatMsMax = 5_000;

/** The latest decision, or a new one when what was measured asks for timeouts that are far from it. */
export function tuningRecord(seen: Situation, { now }: StepFacts): Tuning | undefined {
  const { spec, status } = seen.cluster;
  if (spec.tuning !== "auto") return undefined;
  const before = status?.tuning;
  const { roundTrip } = seen;
  if (roundTrip === undefined) return before;
  const heartbeatMs = heartbeatFor(roundTrip.averageMs + slowestDiskMs(seen));
  const current = before?.heartbeatMilliseconds ?? heartbeatMsDefault;
  const isFar = Math.max(heartbeatMs / current, current / heartbeatMs) > factorMin;
  if (before !== undefined && !isFar) return before;
  return record(roundTrip, isFar ? heartbeatMs : current, now);
}

/** A follower answers when its log has reached its disk. Disks that are slow now and then do not count. */
function slowestDiskMs({ disks }: Situation): number {
  return Math.max(0, ...[...(disks?.values() ?? [])].map(({ p99Ms, slowForMs }) => (slowForMs > 0 ? 0 : (p99Ms ?? 0))));
}

function heartbeatFor(roundTripMs: number): number {
  const rounded = Math.ceil(roundTripMs / roundToMs) * roundToMs;
  return Math.min(heartbeatMsMax, Math.max(heartbeatMsDefault, rounded));
}

function record({ averageMs, between }: NonNullable<Situation["roundTrip"]>, heartbeatMs: number, now: string): Tuning {
  const electionMs = heartbeatMs * heartbeatsPerElection;
  const measured = Math.ceil(averageMs);
  const outcome =
    heartbeatMs === heartbeatMsDefault && electionMs === electionMsDefault
      ? `etcd's defaults fit: heartbeat ${heartbeatMs} ms, election ${electionMs} ms`
      : `heartbeat ${heartbeatMs} ms, election ${electionMs} ms`;
  return {
    heartbeatMilliseconds: heartbeatMs,
    electionMilliseconds: electionMs,
    measuredMilliseconds: measured,
    between: [...between],
    since: now,
    message: `Measured ${measured} ms between ${between.join(" and ")}: ${outcome}`,
  };
}
