/** Reads everything that the plan needs into one snapshot; changes nothing. */
import { type CertificateReport, diskHealth, noteSilence, type Silence } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import type { PodFailure, PodFailures } from "setpoint/pods";
import type { KubeObject, ReconcileContext } from "setpoint";
import type { EtcdConnections } from "../access/connections.ts";
import type { ListedMember, MemberPosition, MemberStatus } from "../gateway/etcd-gateway.ts";
import type { FieldRefusal } from "../kind/accepted-plan.ts";
import { type AcceptanceOptions, acceptSpec } from "../kind/accepted-spec.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { isGivenUpVolume, labels, memberOfPeerUrl, memberOfVolume, volumeName } from "../kind/member-names.ts";
import { wantsAuthentication } from "../resources/root-login.ts";
import { serviceRoles } from "../resources/services.ts";
import { withTlsMode } from "../resources/tls.ts";
import { isHealthy, podState, type Seen, type SeenMember } from "../seen/seen.ts";
import { askAuthentication, askPositions, askQuorum } from "./ask-members.ts";
import type { Memory } from "./memory.ts";
import { observeMetrics, observeRoundTrip } from "./observe-metrics.ts";
import { observeRestore, withRestoredStatus } from "./observe-restore.ts";
import { reachMembers } from "./reach-members.ts";

/** What an observation uses beyond the API server. */
export interface ObservationPorts {
  readonly connections: EtcdConnections;
  readonly failures: PodFailures;
  readonly accepts: AcceptanceOptions;
  /** The operator's own, for copies of data. */
  readonly image: string | undefined;
}

/** A snapshot, and what the process remembers for the next one. */
export interface Observation {
  readonly seen: Seen;
  readonly memory: Memory;
}

export async function observe(
  wanted: EtcdCluster,
  context: ReconcileContext,
  before: Memory,
  { connections, failures, accepts, image }: ObservationPorts,
): Promise<Observation> {
  const { clock } = context.host;
  const claims = volumesOf(wanted, context);
  const surroundings = { services: context.list(Service), volumes: claims, nowMs: clock.now() };
  const { cluster: accepted, plan, refusals, notices } = acceptSpec(wanted, surroundings, accepts);
  const restore = observeRestore(accepted, context);
  // The mode comes first: a restore begins with an empty status.
  const cluster = withRestoredStatus(withTlsMode(accepted, claims), restore);
  const pods = byMember(context.children.list(Pod), (name) => name);
  const failing = await failures.observe(wanted, [...pods.values()], context);
  const { gateway, certificates, isRootMissing } = await connections.observe(cluster, [...pods.values()], context);
  const shown = byMember(claims, memberOfVolume);
  const unseen = unseenVolumes(shown, pods, cluster);
  const volumes = unseen.length === 0 ? shown : await withFresh(shown, unseen, cluster, context);
  const { statuses, unreached, reach } = await reachMembers(cluster, pods, gateway, before.reach, context);
  const list = await askQuorum(pods, statuses, gateway, context.signal);
  const quorum = list !== undefined;
  const ports = { gateway, signal: context.signal };
  const positions = await askPositions(!quorum && isRecordedFounded(cluster) && !reach.isLost, pods, statuses, ports);
  const found = { pods, failing, volumes, statuses, positions, ...listedIn(list), ...recordedIn(cluster) };
  const everybody = namesOf(cluster, quorum, found).map((name) => seenMember(name, found));
  const givenUp = everybody.filter((member) => isGivenUp(cluster, member));
  const kept = everybody.filter((member) => !givenUp.includes(member));
  const heardMs = clock.monotonic();
  const silence = noteSilence(before.silence, problemsOf(cluster, kept, quorum), heardMs);
  const members = kept.map((member) => withSilence(member, silence, heardMs));
  const sampled = await observeMetrics(cluster, pods, quorum, before, { gateway, context });
  const { roundTrips, roundTrip } = observeRoundTrip(list, sampled.roundTrips);
  const revision = highestOf(cluster, quorum, members, before.revision);
  const asksAuthentication = (quorum || statuses.size === 0) && wantsAuthentication(cluster) && !reach.isLost;
  const seen: Seen = {
    cluster,
    refusals: [...refusals, ...authorityRefusals(certificates)],
    notices,
    plan,
    plans: accepts.plans,
    restore,
    nowMs: clock.now(),
    members,
    givenUp,
    copyImage: image,
    disks: diskHealth(sampled.disks, clock.monotonic()),
    roundTrip,
    highestRevision: revision > 0 ? revision : undefined,
    services: servicesOf(cluster, context),
    budget: context.get(PodDisruptionBudget, cluster.metadata.name ?? "", cluster.metadata.namespace),
    quorum,
    unreached: quorum ? undefined : unreached,
    authentication: asksAuthentication ? await askAuthentication(pods, statuses, gateway, context.signal) : undefined,
    clusterIds: distinctClusterIds(members),
    certificates,
    isRootMissing,
    pinnedImages: accepts.pinnedImages,
  };
  const doubtsCredentials = [...pods].some(([name, pod]) => podState(pod) === "running" && !statuses.has(name));
  const remembered = { silence, disks: sampled.disks, roundTrips, reach, doubtsCredentials };
  return { seen, memory: { ...remembered, revision: revision > 0 ? revision : before.revision } };
}

interface Found {
  readonly pods: ReadonlyMap<string, Pod>;
  readonly failing: ReadonlyMap<string, PodFailure>;
  readonly volumes: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly statuses: ReadonlyMap<string, MemberStatus>;
  readonly positions: ReadonlyMap<string, MemberPosition>;
  readonly listed: ReadonlyMap<string, ListedMember>;
  readonly recorded: ReadonlyMap<string, NonNullable<EtcdCluster["status"]>["members"][number]>;
}

function recordedIn({ status }: EtcdCluster): Pick<Found, "recorded"> {
  return { recorded: new Map((status?.members ?? []).map((member) => [member.name, member])) };
}

/** Everybody of whom there is anything; without a quorum, those that the status records, too. */
function namesOf({ status }: EtcdCluster, quorum: boolean, { pods, volumes, listed, recorded }: Found): string[] {
  const known = quorum ? [] : [...recorded.keys(), ...(status?.quorumRecovery?.fenced ?? [])];
  return [...new Set([...pods.keys(), ...volumes.keys(), ...listed.keys(), ...known])].sort();
}

function seenMember(name: string, parts: Found): SeenMember {
  const listed = parts.listed.get(name);
  return {
    name,
    pod: parts.pods.get(name),
    failure: parts.failing.get(name),
    volume: parts.volumes.get(name),
    status: parts.statuses.get(name),
    listed: listed === undefined ? undefined : { id: listed.id, learner: listed.learner, started: listed.name !== "" },
    recorded: parts.recorded.get(name),
    position: parts.statuses.get(name) ?? parts.positions.get(name),
    isMarked: isGivenUpVolume(parts.volumes.get(name)),
  };
}

/** What is wrong with members, in words that stay while it lasts. */
function problemsOf(cluster: EtcdCluster, members: readonly SeenMember[], quorum: boolean): readonly string[] {
  const problems = members.map(problemOf).filter((problem) => problem !== undefined);
  // Nobody expects a sign of life of a member that sleeps, or that a user stopped.
  const fenced = cluster.status?.fencing?.members.map(({ name }) => name) ?? [];
  const silent = members.filter(({ name, position }) => position === undefined && !fenced.includes(name));
  return quorum || cluster.spec.hibernated ? problems : [...problems, ...silent.map(absence)];
}

function withSilence(member: SeenMember, silence: Silence, nowMs: number): SeenMember {
  const forMs = (problem: string): number | undefined => {
    const sinceMs = silence.get(problem);
    return sinceMs === undefined ? undefined : nowMs - sinceMs;
  };
  const troubledMs = forMs(problemOf(member) ?? "");
  const absentForMs = forMs(absence(member));
  const known = absentForMs === undefined ? member : { ...member, absentForMs };
  if (troubledMs === undefined) return known;
  return podState(member.pod) === "failed"
    ? { ...known, failedForMs: troubledMs }
    : { ...known, silentForMs: troubledMs };
}

/** That nobody hears of a member, whatever becomes of its pods. */
function absence({ name }: SeenMember): string {
  return `absent ${name}`;
}

function isRecordedFounded({ status }: EtcdCluster): boolean {
  return status?.clusterID !== undefined;
}

/**
 * Given up by the recovery that is going on, or by an earlier one. What etcd lists as a member is one: then
 * the quorum came back before the recovery.
 */
function isGivenUp({ status }: EtcdCluster, { name, listed, recorded, isMarked = false }: SeenMember): boolean {
  if (listed !== undefined) return false;
  const record = status?.quorumRecovery;
  if (record?.state === "Recovering") return name !== record.survivor;
  return record?.fenced?.includes(name) === true || (isMarked && recorded === undefined);
}

/** What a quorum says counts; without one, the highest of what was seen. */
function highestOf(
  { status }: EtcdCluster,
  quorum: boolean,
  members: readonly SeenMember[],
  remembered: number,
): number {
  const now = members.map(({ position }) => position?.revision ?? 0);
  return Math.max(0, ...now, ...(quorum ? [] : [remembered, status?.latestRevision?.revision ?? 0]));
}

/** The problem of a member's pod, in a word with its UID. */
function problemOf(member: SeenMember): string | undefined {
  const state = podState(member.pod);
  const uid = member.pod?.metadata.uid ?? "";
  if (state === "failed") return `failed ${uid}`;
  return state === "running" && !isHealthy(member) ? `silent ${uid}` : undefined;
}

/**
 * Finds volumes by what was written at their creation: volumes of a cluster that retains them have no owner,
 * and any client may edit labels.
 */
function volumesOf(cluster: EtcdCluster, context: ReconcileContext): readonly PersistentVolumeClaim[] {
  const { uid } = cluster.metadata;
  const claims = context.list(PersistentVolumeClaim);
  return claims.filter(({ metadata }) => metadata.annotations?.[labels.clusterUid] === uid);
}

/** Members whose pod waits and whose claim is not in the cache. */
function unseenVolumes(
  volumes: ReadonlyMap<string, PersistentVolumeClaim>,
  pods: ReadonlyMap<string, Pod>,
  { spec }: EtcdCluster,
): readonly string[] {
  if (spec.volumeClaimTemplate === undefined) return [];
  return [...pods.keys()].filter((name) => !volumes.has(name) && podState(pods.get(name)) === "starting");
}

/**
 * Reads a claim that a waiting pod needs and the cache does not show. The decision to give up its member
 * depends on it, and the cache of claims may lag behind that of pods.
 */
async function withFresh(
  volumes: ReadonlyMap<string, PersistentVolumeClaim>,
  unseen: readonly string[],
  { metadata: { namespace } }: EtcdCluster,
  context: ReconcileContext,
): Promise<ReadonlyMap<string, PersistentVolumeClaim>> {
  const all = new Map(volumes);
  for (const name of unseen) {
    const volume = await context.fresh(PersistentVolumeClaim, volumeName(name), namespace);
    if (volume !== undefined) all.set(name, volume);
  }
  return all;
}

function authorityRefusals(certificates: CertificateReport | undefined): readonly FieldRefusal[] {
  const why = certificates?.givenAuthorityProblem;
  return why === undefined ? [] : [{ field: "spec.tls.authoritySecret", why }];
}

/** By name, which no client can change. */
function byMember<T extends KubeObject>(
  objects: readonly T[],
  memberOf: (name: string) => string,
): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [memberOf(object.metadata.name ?? ""), object]));
}

function listedIn(list: { readonly members: readonly ListedMember[] } | undefined): Pick<Found, "listed"> {
  return { listed: byName(list?.members ?? []) };
}

function byName(members: readonly ListedMember[]): ReadonlyMap<string, ListedMember> {
  return new Map(
    members.map((member) => [
      member.name === "" ? (memberOfPeerUrl(member.peerUrls[0] ?? "") ?? member.id) : member.name,
      member,
    ]),
  );
}

function servicesOf(
  { metadata: { name = "", namespace } }: EtcdCluster,
  context: ReconcileContext,
): ReadonlyMap<string, Service> {
  const names = serviceRoles.map(({ nameOf }) => nameOf(name));
  const present = names.map((each) => [each, context.get(Service, each, namespace)] as const);
  return new Map(present.flatMap(([each, service]) => (service === undefined ? [] : [[each, service]])));
}

function distinctClusterIds(members: readonly SeenMember[]): readonly string[] {
  const ids = new Set<string>();
  for (const { status } of members) if (status !== undefined) ids.add(status.clusterId);
  return [...ids].sort();
}
