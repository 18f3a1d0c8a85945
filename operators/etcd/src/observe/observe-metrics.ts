/**
 * Samples how long the disks and the peers of members take; a sample that is missed is taken with the next
 * observation.
 */
import { type DiskSamples, isDiskSampleDue, noteDiskSample } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { EtcdGateway, MemberList, MemberMeasurements } from "../gateway/etcd-gateway.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { metricsEndpoint } from "../resources/member-pod.ts";
import { podState } from "../seen/seen.ts";
import { baselineOf, noteRoundTrips, type RoundTripWindows } from "./round-trips.ts";

interface Ports {
  readonly gateway: EtcdGateway;
  readonly context: ReconcileContext;
}

/** The samples of members, as the process remembers them. */
export interface Samples {
  readonly disks: DiskSamples;
  readonly roundTrips: RoundTripWindows;
}

interface Sample {
  readonly member: string;
  readonly pod: string;
  readonly measured: MemberMeasurements;
  readonly atMs: number;
}

/** With new samples where they are due; members that are gone are forgotten. */
export async function observeMetrics(
  { spec }: EtcdCluster,
  pods: ReadonlyMap<string, Pod>,
  quorum: boolean,
  before: Samples,
  ports: Ports,
): Promise<Samples> {
  // Without a quorum nothing is written.
  const taken = quorum ? await Promise.all([...pods].map(([name, pod]) => sample(name, pod, before, ports))) : [];
  ports.context.signal.throwIfAborted();
  const boundMs = spec.healing.slowDiskMilliseconds;
  let disks = ofMembers(before.disks, pods);
  let roundTrips = before.roundTrips;
  for (const each of taken) {
    if (each === undefined) continue;
    const { member, pod, measured, atMs } = each;
    disks = noteDiskSample(disks, { member, pod, boundMs }, measured.logWrites, atMs);
    roundTrips = noteRoundTrips(roundTrips, { member, pod }, measured.roundTrips, atMs);
  }
  return { disks, roundTrips };
}

function ofMembers<T>(samples: ReadonlyMap<string, T>, members: ReadonlyMap<string, unknown>): ReadonlyMap<string, T> {
  return new Map([...samples].filter(([name]) => members.has(name)));
}

async function sample(
  member: string,
  pod: Pod,
  { disks }: Samples,
  { gateway, context: { host, signal } }: Ports,
): Promise<Sample | undefined> {
  const { clock } = host;
  const endpoint = podState(pod) === "running" ? metricsEndpoint(pod) : undefined;
  const { uid = "" } = pod.metadata;
  if (endpoint === undefined || !isDiskSampleDue(disks, member, uid, clock.monotonic())) return undefined;
  const measured = await gateway.measure(endpoint, signal).catch(() => undefined);
  return measured === undefined ? undefined : { member, pod: uid, measured, atMs: clock.monotonic() };
}

/** With the names of the two members; only voters count, and windows of others are forgotten. */
export function observeRoundTrip(
  list: MemberList | undefined,
  before: RoundTripWindows,
): {
  readonly roundTrips: RoundTripWindows;
  readonly roundTrip: { readonly averageMs: number; readonly between: readonly string[] } | undefined;
} {
  if (list === undefined) return { roundTrips: before, roundTrip: undefined };
  const voters = list.members.filter(({ learner, name }) => !learner && name !== "");
  const roundTrips = ofMembers(before, new Map(voters.map(({ name }) => [name, true])));
  const baseline = baselineOf(
    roundTrips,
    voters.map(({ name }) => name),
  );
  const peer = voters.find(({ id }) => id === baseline?.peerId);
  if (baseline === undefined || peer === undefined) return { roundTrips, roundTrip: undefined };
  return { roundTrips, roundTrip: { averageMs: baseline.averageMs, between: [baseline.member, peer.name].toSorted() } };
}
