/**
 * What the operator's own questions mean for the lease of a primary; pure. A question to it gives back the
 * moment that its last answer had, and the lease counts from there: so what this process has heard of it last
 * bounds its lease, whatever is under way.
 */
import { callMsMax, leaseMs, type LeaseRequest } from "../instance/instance-protocol.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { deniedSinceMs } from "./matters.ts";
import type { Memory } from "./memory.ts";
import type { Seen, SeenInstance } from "./seen.ts";

/** What a question to the primary's pod carries; nothing before it has answered once. */
export function leaseTo(
  { status }: PostgresCluster,
  { name, uid = "" }: { readonly name: string; readonly uid: string | undefined },
  { moments }: Pick<Memory, "moments">,
): LeaseRequest | undefined {
  const { primary, term } = status ?? {};
  const moment = moments?.[uid];
  if (name !== primary || term === undefined || moment === undefined) return undefined;
  return { holder: name, term, ...(moment === "" ? {} : { moment }) };
}

/** What is remembered of an observation, whose questions were asked with the memory of `before`. */
export function consentsAfter(
  { status }: PostgresCluster,
  instances: readonly SeenInstance[],
  before: Memory,
  nowMs: number,
): Pick<Memory, "moments" | "consents"> {
  const moments = instances.flatMap(({ pod, report }) => {
    const uid = pod?.metadata.uid ?? "";
    const moment = report === undefined ? before.moments?.[uid] : (report.moment ?? "");
    return moment === undefined ? [] : [[uid, moment] as const];
  });
  const named = instances.filter(({ name }) => name === status?.primary || name === status?.formerPrimary);
  const consents = named.map((each) => {
    const atMs = each.name === status?.primary ? consentTo(each, before, nowMs) : undefined;
    // Of what an earlier process of the operator has asked, nothing is known.
    return [each.name, atMs ?? before.consents?.[each.name] ?? nowMs + callMsMax] as const;
  });
  return { moments: Object.fromEntries(moments), consents: Object.fromEntries(consents) };
}

/** A request without a moment counts from its arrival. */
function consentTo({ pod, report }: SeenInstance, { moments }: Memory, nowMs: number): number | undefined {
  if (moments?.[pod?.metadata.uid ?? ""] === "") return nowMs + callMsMax;
  return report === undefined ? undefined : nowMs;
}

/** For how long the former primary has had no consent of a majority, and none of this process. */
export function refusedForMs({ cluster, instances, memory, monotonicMs }: Seen): number {
  const deniedMs = deniedSinceMs(cluster, instances, memory);
  const consentMs = memory.consents?.[cluster.status?.formerPrimary ?? ""];
  if (deniedMs === undefined || consentMs === undefined) return 0;
  return Math.max(0, monotonicMs - Math.max(deniedMs, consentMs));
}

/** Whether the present primary, which does not answer, has stopped by its own clock: its lease is over. */
export function hasLostLease({ cluster, instances, memory, monotonicMs }: Seen): boolean {
  const { primary = "", term = 0 } = cluster.status ?? {};
  const consentMs = memory.consents?.[primary] ?? monotonicMs;
  const others = instances.filter(({ name }) => name !== primary);
  const refusing = others.filter(({ report }) => {
    const { lastGrant } = report ?? {};
    return report?.term === term && lastGrant !== undefined && lastGrant.agoMs >= leaseMs;
  });
  return monotonicMs - consentMs >= leaseMs && refusing.length >= instances.length / 2;
}
