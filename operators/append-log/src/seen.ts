/** What decides about an AppendLog: its members as they report themselves, its claims and its store. */
import { type DataClaim, observeArchive, observeDataClaim, type SeenArchive } from "@setpoint/data-service";
import type { ReconcileContext, Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { AppendLog } from "./append-log.ts";
import type { LogGateway } from "./log-gateway.ts";
import { addressOf, firstClaim, memberName, replicaClaim } from "./resources.ts";
import type { MemberReport } from "./server/log-server.ts";

export interface SeenMember {
  readonly name: string;
  /** The claim that it runs on now; undefined while it must not run. */
  readonly claim: string | undefined;
  readonly pod: Stored<Pod> | undefined;
  /** Undefined while it does not answer. */
  readonly report: MemberReport | undefined;
}

export interface Seen {
  readonly log: Stored<AppendLog>;
  readonly data: DataClaim;
  readonly members: readonly SeenMember[];
  readonly store: SeenArchive;
  /** Claims from before a restore that may be deleted. */
  readonly unneeded: readonly Stored<PersistentVolumeClaim>[];
}

export async function observe(log: Stored<AppendLog>, context: ReconcileContext, gateway: LogGateway): Promise<Seen> {
  const names = [memberName(log, 0), memberName(log, 1)];
  const pods = await Promise.all(names.map((name) => podNamed(name, log, context)));
  const isStopped = pods.every((pod) => pod === undefined);
  const data = observeDataClaim(log, { first: firstClaim(log), isStopped }, context);
  const replica = log.spec.members < 2 ? undefined : replicaClaim(log, data.status.restored).metadata.name;
  const claims = data.runsOn === undefined ? [] : [data.runsOn, replica];
  const reports = await Promise.all(pods.map((pod) => reportOf(pod, gateway, context.signal)));
  const members = names.map((name, at) => ({ name, claim: claims[at], pod: pods[at], report: reports[at] }));
  const isMissing = members.some(({ claim, pod }) => claim !== undefined && pod === undefined);
  const store = isMissing ? await observeArchive(log, log.spec.store, context) : {};
  return { log, data, members, store, unneeded: unneededClaims(data, replica, context) };
}

/** A pod that is gone lets another member take over, so that a late cache must not say it. */
async function podNamed(name: string, { metadata: { namespace } }: AppendLog, { get, fresh }: ReconcileContext) {
  return get(Pod, name, namespace) ?? (await fresh(Pod, name, namespace));
}

async function reportOf(
  pod: Stored<Pod> | undefined,
  gateway: LogGateway,
  signal: AbortSignal,
): Promise<MemberReport | undefined> {
  const address = pod?.status?.phase === "Running" ? addressOf(pod) : undefined;
  return address === undefined ? undefined : gateway.report(address, signal).catch(() => undefined);
}

function unneededClaims(
  { runsOn, unneeded, status }: DataClaim,
  replica: string | undefined,
  { children }: ReconcileContext,
): readonly Stored<PersistentVolumeClaim>[] {
  const isOver = runsOn !== undefined && (status.previousClaims ?? []).every((name) => unneeded.includes(name));
  if (!isOver) return [];
  return children
    .list(PersistentVolumeClaim)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ metadata: { name } }) => name !== runsOn && name !== replica);
}
