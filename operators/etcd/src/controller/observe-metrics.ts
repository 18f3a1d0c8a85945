/**
 * Samples how long the disks and the peers of members take; a sample that is missed is taken with the next
 * observation.
 */
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../etcd-cluster.ts";
import type { EtcdGateway, MemberList } from "../gateway/etcd-gateway.ts";
import { metricsEndpoint } from "../resources/member-pod.ts";
import type { DiskHealth, DiskWatch } from "./disk-watch.ts";
import type { RoundTripWatch } from "./round-trip-watch.ts";
import { podState } from "./seen.ts";

interface Ports {
  readonly disks: DiskWatch;
  readonly roundTrips: RoundTripWatch;
  readonly gateway: EtcdGateway;
  readonly context: ReconcileContext;
}

export async function observeMetrics(
  cluster: EtcdCluster,
  pods: ReadonlyMap<string, Pod>,
  quorum: boolean,
  ports: Ports,
): Promise<ReadonlyMap<string, DiskHealth>> {
  const { disks, context } = ports;
  const { uid = "" } = cluster.metadata;
  // Without a quorum nothing is written.
  if (quorum) await Promise.all([...pods].map(([name, pod]) => sample(cluster, name, pod, ports)));
  context.signal.throwIfAborted();
  return disks.health(uid, [...pods.keys()], context.host.clock.monotonic());
}

async function sample(
  { metadata: { uid = "" }, spec }: EtcdCluster,
  member: string,
  pod: Pod,
  {
    disks,
    roundTrips,
    gateway,
    context: {
      host: { clock },
      signal,
    },
  }: Ports,
): Promise<void> {
  const endpoint = podState(pod) === "running" ? metricsEndpoint(pod) : undefined;
  const podUid = pod.metadata.uid ?? "";
  if (endpoint === undefined || !disks.isDue(uid, member, podUid, clock.monotonic())) return;
  const measured = await gateway.measure(endpoint, signal).catch(() => undefined);
  const boundMs = spec.healing.slowDiskMilliseconds;
  if (measured === undefined) return;
  disks.note(uid, { member, pod: podUid, boundMs }, measured, clock.monotonic());
  roundTrips.note(uid, { member, pod: podUid }, measured.roundTrips, clock.monotonic());
}

/** With the names of the two members; only voters count. */
export function observeRoundTrip(
  { metadata: { uid = "" } }: EtcdCluster,
  list: MemberList | undefined,
  roundTrips: RoundTripWatch,
): { readonly averageMs: number; readonly between: readonly string[] } | undefined {
  const voters = (list?.members ?? []).filter(({ learner, name }) => !learner && name !== "");
  const baseline =
    list === undefined
      ? undefined
      : roundTrips.baseline(
          uid,
          voters.map(({ name }) => name),
        );
  const peer = voters.find(({ id }) => id === baseline?.peerId);
  if (baseline === undefined || peer === undefined) return undefined;
  return { averageMs: baseline.averageMs, between: [baseline.member, peer.name].toSorted() };
}
