/** Who becomes the primary when there is none; pure. */
import { electPrimary, type MemberRole } from "@setpoint/data-service";
import { parseQuantity } from "setpoint/kinds";
import { bytesBetween } from "../instance/instance-protocol.ts";
import { instanceNamed, isStandby, type Seen, type SeenInstance } from "../seen/seen.ts";

export type Election =
  | { readonly kind: "wait"; readonly why: string; /** It ends by itself within seconds. */ readonly isBrief?: true }
  | { readonly kind: "elected"; readonly instance: SeenInstance; readonly lostAtMost?: string };

const defaultLag = "16Mi";
const nanosInOne = 1_000_000_000n;

/**
 * The replica of the newest timeline that has received the most. What another one may have received and
 * cannot say counts: with synchronous replication, enough replicas must answer that one of them has every
 * acknowledged commit.
 */
export function elect(seen: Seen): Election {
  const { spec, status } = seen.cluster;
  const standbys = seen.instances.filter((each) => isStandby(each) && each.report?.systemId === status?.systemID);
  const receiving = isFormerReplica(seen) ? undefined : standbys.find(({ report }) => report?.isStreaming === true);
  if (receiving !== undefined)
    return { kind: "wait", why: `${receiving.name} still receives from the former primary`, isBrief: true };
  const isRequired = spec.synchronous?.durability !== "preferred";
  const elected = electPrimary(standbys.map(roleOf), {
    compare: (one, other) => bytesBetween(other, one),
    members: spec.instances,
    copies: spec.synchronous !== undefined && isRequired ? 1 + spec.synchronous.number : 1,
  });
  if ("refusal" in elected) return { kind: "wait", why: elected.refusal };
  const best = standbys.find(({ name }) => name === elected.member);
  return best === undefined ? { kind: "wait", why: "no replica with data answers" } : judge(seen, standbys, best);
}

/** It was appointed and never took office: it has nothing to send that is not on its volume. */
function isFormerReplica(seen: Seen): boolean {
  const { formerPrimary, term = 0 } = seen.cluster.status ?? {};
  const former = instanceNamed(seen, formerPrimary);
  const { report } = former ?? {};
  return former !== undefined && isStandby(former) && report?.isStreaming !== true && (report?.term ?? 0) >= term;
}

function judge(seen: Seen, standbys: readonly SeenInstance[], best: SeenInstance): Election {
  const { cluster } = seen;
  const { formerPrimary, candidate, lastPosition, lastTimeline = 0 } = cluster.status ?? {};
  // It would begin the same timeline once more, and two histories would have one number.
  const former = instanceNamed(seen, formerPrimary);
  if ((best.report?.timeline ?? 0) < lastTimeline && former?.claim !== undefined)
    return {
      kind: "wait",
      why: `${best.name}, the best replica, never reached timeline ${lastTimeline} of ${former.name}; bring ${former.name} back, or delete its volume to give up what only it has`,
    };
  const lag = lagOf(best, lastPosition);
  const lagMax = Number(parseQuantity(cluster.spec.failover?.maximumLag ?? defaultLag).nanos / nanosInOne);
  if (lag > lagMax)
    return {
      kind: "wait",
      why: `${best.name}, the best replica, lacks ${lag} bytes of what ${formerPrimary ?? "the primary"} had; bring ${formerPrimary ?? "it"} back, or raise spec.failover.maximumLag to accept the loss`,
    };
  const instance = standbys.find((each) => each.name === candidate && isAsFar(each, best)) ?? best;
  return lag <= 0
    ? { kind: "elected", instance }
    : { kind: "elected", instance, lostAtMost: `${lag} bytes of the log` };
}

function roleOf({ name, report }: SeenInstance): MemberRole {
  return {
    name,
    role: "replica",
    timeline: report?.timeline ?? 0,
    received: report?.position,
    replayed: report?.replayed,
  };
}

function isAsFar({ report }: SeenInstance, best: SeenInstance): boolean {
  return report?.position === best.report?.position && report?.timeline === best.report?.timeline;
}

function lagOf({ report }: SeenInstance, last: string | undefined): number {
  return last === undefined || report?.position === undefined ? 0 : bytesBetween(report.position, last);
}
