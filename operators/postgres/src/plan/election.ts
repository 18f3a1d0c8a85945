/** Who becomes the primary when there is none; pure. */
import { bytesBetween } from "../instance/instance-protocol.ts";
import { parseQuantity } from "setpoint/kinds";
import { isStandby, type Seen, type SeenInstance } from "../seen/seen.ts";

export type Election =
  | { readonly kind: "wait"; readonly why: string }
  | { readonly kind: "elected"; readonly instance: SeenInstance; readonly lostAtMost?: string };

const defaultLag = "16Mi";

/**
 * The replica that has received the most. What another one may have received and cannot say counts: with
 * synchronous replication, enough replicas must answer that one of them has every acknowledged commit.
 */
export function elect(seen: Seen): Election {
  const { cluster } = seen;
  const { systemID, formerPrimary, candidate } = cluster.status ?? {};
  const standbys = seen.instances.filter((each) => isStandby(each) && each.report?.systemId === systemID);
  const receiving = standbys.find(({ report }) => report?.isStreaming === true);
  if (receiving !== undefined) return { kind: "wait", why: `${receiving.name} still receives from the former primary` };
  const ranked = standbys.toSorted((a, b) => compare(b, a));
  const best = ranked[0];
  if (best === undefined) return { kind: "wait", why: "no replica with data answers" };
  const missing = missingForQuorum(seen, standbys.length);
  if (missing > 0)
    return {
      kind: "wait",
      why: `${missing} more replicas must answer, because only they may have the last acknowledged commits`,
    };
  const lag = lagOf(best, cluster.status?.lastPosition);
  const lagMax = Number(parseQuantity(cluster.spec.failover?.maximumLag ?? defaultLag).nanos / 1_000_000_000n);
  if (lag !== undefined && lag > lagMax)
    return {
      kind: "wait",
      why: `${best.name}, the best replica, lacks ${lag} bytes of what ${formerPrimary ?? "the primary"} had; bring ${formerPrimary ?? "it"} back, or raise spec.failover.maximumLag to accept the loss`,
    };
  const chosen = ranked.find((each) => each.name === candidate && compare(each, best) === 0) ?? best;
  return lag === undefined || lag <= 0
    ? { kind: "elected", instance: chosen }
    : { kind: "elected", instance: chosen, lostAtMost: `${lag} bytes of the log` };
}

/** By what they have received, then replayed; the lower number wins between equals. */
function compare(a: SeenInstance, b: SeenInstance): number {
  const received = bytesBetween(b.report?.position ?? "0/0", a.report?.position ?? "0/0");
  if (received !== 0) return received;
  return bytesBetween(b.report?.replayed ?? "0/0", a.report?.replayed ?? "0/0");
}

/** Of N replicas, W have each commit; any N - W + 1 of them have all. */
function missingForQuorum({ cluster: { spec } }: Seen, answering: number): number {
  const { synchronous, instances } = spec;
  if (synchronous === undefined || synchronous.durability === "preferred") return 0;
  return Math.max(0, instances - 1 - synchronous.number + 1 - answering);
}

function lagOf({ report }: SeenInstance, last: string | undefined): number | undefined {
  return last === undefined || report?.position === undefined ? undefined : bytesBetween(report.position, last);
}
