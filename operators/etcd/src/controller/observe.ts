/** Reads everything that the plan needs into one snapshot; changes nothing. */
import {
  type CertificateReport,
  compareVersions,
  type FencingDecision,
  windowRefusal,
  windowState,
} from "@setpoint/data-service";
import {
  compareQuantities,
  parseQuantity,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from "setpoint/kinds";
import type { PodFailure, PodFailures } from "setpoint/pods";
import type { KubeObject, ReconcileContext } from "setpoint";
import type { FieldRefusal } from "../accepted-plan.ts";
import { type AcceptanceOptions, acceptSpec } from "../accepted-spec.ts";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { upgradeRefusal } from "../etcd-version.ts";
import type { ListedMember, MemberPosition, MemberStatus } from "../gateway/etcd-gateway.ts";
import { labels, memberOfPeerUrl, memberOfVolume, volumeName } from "../member-names.ts";
import { isBudgetAsWanted } from "../resources/disruption-budget.ts";
import { isGivenUpVolume } from "../resources/given-up-members.ts";
import { removesCopies } from "../resources/survivor-copy.ts";
import { dueCopy } from "./copy-record.ts";
import { memberLabels } from "../resources/member-pod.ts";
import { isOutdated } from "../resources/member-template.ts";
import { wantsAuthentication } from "../resources/root-login.ts";
import { askAuthentication, askPositions, askQuorum } from "./ask-members.ts";
import { withTlsMode } from "../resources/tls.ts";
import { isRetained } from "../resources/retained-volumes.ts";
import { isAsWanted, isOutsideOfLoopback, serviceRoles } from "../resources/services.ts";
import { observeRestore, withRestoredStatus } from "./restore-view.ts";
import type { EtcdConnections } from "./connections.ts";
import { podVersion } from "../resources/member-image.ts";
import { observeFencing } from "./plan-fencing.ts";
import { isRestoring } from "./plan-restore.ts";
import { isHealthy, podState, type Seen, type SeenMember } from "./seen.ts";
import type { DiskWatch } from "./disk-watch.ts";
import { observeMetrics, observeRoundTrip } from "./observe-metrics.ts";
import type { MemberReach } from "./member-reach.ts";
import type { RoundTripWatch } from "./round-trip-watch.ts";
import type { SilenceWatch } from "./silence-watch.ts";

/** What an observation uses beyond the API server. */
export interface ObservationPorts {
  readonly connections: EtcdConnections;
  readonly reach: MemberReach;
  readonly failures: PodFailures;
  readonly silence: SilenceWatch;
  readonly disks: DiskWatch;
  readonly roundTrips: RoundTripWatch;
  /** The latest revision of each cluster that this process has seen, by its UID. */
  readonly revisions: Map<string, number>;
  readonly accepts: AcceptanceOptions;
  /** The operator's own, for copies of data. */
  readonly image: string | undefined;
}

export async function observe(
  wanted: EtcdCluster,
  context: ReconcileContext,
  { connections, reach, failures, silence, disks, roundTrips, revisions, accepts, image }: ObservationPorts,
): Promise<Seen> {
  const claims = volumesOf(wanted, context);
  const surroundings = { services: context.list(Service), volumes: claims, nowMs: context.host.clock.now() };
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
  const { statuses, unreached } = await reach.ask(cluster, pods, gateway, context);
  if ([...pods].some(([name, pod]) => podState(pod) === "running" && !statuses.has(name))) connections.doubt(cluster);
  const list = await askQuorum(pods, statuses, gateway, context.signal);
  const listed = byName(list?.members ?? []);
  const asksPositions = list === undefined && isRecordedFounded(cluster) && !reach.isLost(cluster);
  const positions = await askPositions(asksPositions, pods, statuses, {
    gateway,
    signal: context.signal,
  });
  const recorded = new Map((cluster.status?.members ?? []).map((member) => [member.name, member]));
  const names = new Set([
    ...pods.keys(),
    ...volumes.keys(),
    ...listed.keys(),
    ...(list === undefined ? recorded.keys() : []),
    ...(list === undefined ? (cluster.status?.quorumRecovery?.fenced ?? []) : []),
  ]);
  const parts = { pods, failing, volumes, statuses, positions, listed, recorded };
  const everybody = [...names].sort().map((name) => seenMember(name, parts));
  const givenUp = everybody.filter((member) => isGivenUp(cluster, member));
  const kept = everybody.filter((member) => !givenUp.includes(member));
  const fencing = observeFencing(cluster, kept, list !== undefined, isRestoring(restore));
  const members = withSilence(cluster, kept, { silence, context, quorum: list !== undefined, fencing });
  const { servicesToApply, serviceTaken, hasLoopback } = observeServices(cluster, context);
  const { targetVersion, versionRefusal } = observeVersion(cluster, members, context.host.clock.now());
  const diskHealth = await observeMetrics(cluster, pods, list !== undefined, {
    disks,
    roundTrips,
    gateway,
    context,
  });
  const roundTrip = observeRoundTrip(cluster, list, roundTrips);
  const copyToRemove = image === undefined ? undefined : dueCopy(cluster, context.host.clock.now());
  return {
    cluster,
    refusals: [...refusals, ...authorityRefusals(certificates)],
    notices,
    plan,
    plans: accepts.plans,
    restore,
    members,
    copyImage: image,
    copyToRemove,
    disks: diskHealth,
    roundTrip,
    servicesToApply,
    serviceTaken,
    hasLoopback,
    targetVersion,
    versionRefusal,
    closed: closedWindow(cluster, context.host.clock.now()),
    givenUp,
    fencing,
    highestRevision: highest(cluster, list !== undefined, members, revisions),
    misowned: everybody.filter((member) => isMisowned(cluster, member)).map(({ name }) => name),
    outdated: members
      .filter(
        ({ name, pod }) =>
          isOutdated(cluster, pod) ||
          certificates?.due.blockedBy?.includes(name) ||
          (name === copyToRemove && pod !== undefined && !removesCopies(pod)),
      )
      .map(({ name }) => name),
    small: members.filter((member) => isSmall(cluster, member)).map(({ name }) => name),
    needsBudget: needsBudget(cluster, context),
    mislabelled: members.filter((member) => isMislabelled(cluster, member)).map(({ name }) => name),
    quorum: list !== undefined,
    unreached: list === undefined ? unreached : undefined,
    authentication:
      (list === undefined && statuses.size > 0) || !wantsAuthentication(cluster) || reach.isLost(cluster)
        ? undefined
        : await askAuthentication(pods, statuses, gateway, context.signal),
    clusterIds: distinctClusterIds(members),
    certificates,
    isRootMissing,
    pinnedImages: accepts.pinnedImages,
  };
}

interface Parts {
  readonly pods: ReadonlyMap<string, Pod>;
  readonly failing: ReadonlyMap<string, PodFailure>;
  readonly volumes: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly statuses: ReadonlyMap<string, MemberStatus>;
  readonly positions: ReadonlyMap<string, MemberPosition>;
  readonly listed: ReadonlyMap<string, ListedMember>;
  readonly recorded: ReadonlyMap<string, NonNullable<EtcdCluster["status"]>["members"][number]>;
}

function seenMember(name: string, parts: Parts): SeenMember {
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

function withSilence(
  cluster: EtcdCluster,
  members: readonly SeenMember[],
  {
    silence,
    context,
    quorum,
    fencing,
  }: {
    readonly silence: SilenceWatch;
    readonly context: ReconcileContext;
    readonly quorum: boolean;
    readonly fencing: FencingDecision;
  },
): readonly SeenMember[] {
  const { uid = "" } = cluster.metadata;
  const problems = members.map(problemOf);
  // Nobody expects a sign of life of a member that sleeps, or that a user stopped.
  const isExpected = ({ name }: SeenMember): boolean => !fencing.fenced.includes(name);
  const silent = members.filter((member) => member.position === undefined && isExpected(member));
  const absent = quorum || cluster.spec.hibernated ? [] : silent.map(absence);
  const said = [...problems.filter((matter) => matter !== undefined), ...absent];
  const nowMs = context.host.clock.monotonic();
  const since = silence.note(uid, said, nowMs);
  const forMs = (matter: string): number | undefined => {
    const sinceMs = since.get(matter);
    return sinceMs === undefined ? undefined : nowMs - sinceMs;
  };
  return members.map((member, at) => {
    const troubledMs = forMs(problems[at] ?? "");
    const absentForMs = forMs(absence(member));
    const known = absentForMs === undefined ? member : { ...member, absentForMs };
    if (troubledMs === undefined) return known;
    return podState(member.pod) === "failed"
      ? { ...known, failedForMs: troubledMs }
      : { ...known, silentForMs: troubledMs };
  });
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
function highest(
  { metadata: { uid = "" }, status }: EtcdCluster,
  quorum: boolean,
  members: readonly SeenMember[],
  revisions: Map<string, number>,
): number | undefined {
  const now = members.map(({ position }) => position?.revision ?? 0);
  const before = quorum ? [] : [revisions.get(uid) ?? 0, status?.latestRevision?.revision ?? 0];
  const revision = Math.max(0, ...now, ...before);
  if (revision > 0) revisions.set(uid, revision);
  return revision > 0 ? revision : undefined;
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

function byName(members: readonly ListedMember[]): ReadonlyMap<string, ListedMember> {
  return new Map(
    members.map((member) => [
      member.name === "" ? (memberOfPeerUrl(member.peerUrls[0] ?? "") ?? member.id) : member.name,
      member,
    ]),
  );
}

/** Services and people find pods and volumes by their labels. */
function isMislabelled(cluster: EtcdCluster, { name, pod, volume }: SeenMember): boolean {
  const wanted = memberLabels(cluster, name);
  const differs = ({ metadata }: KubeObject, keys: readonly string[]): boolean =>
    metadata.deletionTimestamp === undefined && keys.some((key) => metadata.labels?.[key] !== wanted[key]);
  return (
    (pod !== undefined && differs(pod, Object.keys(wanted))) ||
    (volume !== undefined && differs(volume, [labels.cluster, labels.member]))
  );
}

/**
 * The garbage collector deletes a volume with its owner, the cluster; nothing deletes one with the retention
 * label.
 */
function isMisowned({ spec, metadata: { uid } }: EtcdCluster, { volume }: SeenMember): boolean {
  if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return false;
  const isOwned = volume.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
  return isOwned !== (spec.deletionPolicy === "Delete") || isRetained(volume) !== (spec.deletionPolicy === "Retain");
}

/** What was asked for; the volume itself follows when its class and its node allow it. */
function isSmall({ spec }: EtcdCluster, { volume }: SeenMember): boolean {
  const wanted = spec.volumeClaimTemplate?.resources.requests.storage;
  const asked = volume?.spec?.resources?.requests?.["storage"];
  if (wanted === undefined || asked === undefined || volume?.metadata.deletionTimestamp !== undefined) return false;
  return compareQuantities(parseQuantity(wanted), parseQuantity(String(asked))) > 0;
}

function needsBudget(cluster: EtcdCluster, context: ReconcileContext): boolean {
  const { name = "", namespace } = cluster.metadata;
  const present = context.get(PodDisruptionBudget, name, namespace);
  return present === undefined || !isBudgetAsWanted(present, cluster);
}

function observeServices(
  cluster: EtcdCluster,
  context: ReconcileContext,
): Pick<Seen, "servicesToApply" | "serviceTaken" | "hasLoopback"> {
  const servicesToApply: string[] = [];
  let hasLoopback = false;
  for (const role of serviceRoles) {
    const name = role.nameOf(cluster.metadata.name ?? "");
    const present = context.get(Service, name, cluster.metadata.namespace);
    if (present !== undefined && !isOurs(present, cluster))
      return { servicesToApply: [], serviceTaken: name, hasLoopback };
    if (present === undefined || !isAsWanted(present, cluster, role)) servicesToApply.push(name);
    hasLoopback ||= isOutsideOfLoopback(present);
  }
  return { servicesToApply, hasLoopback };
}

function isOurs(service: Service, cluster: EtcdCluster): boolean {
  return service.metadata.ownerReferences?.some((owner) => owner.uid === cluster.metadata.uid) ?? false;
}

/** Members are upgraded to the spec's version only if etcd allows that step from the oldest running one. */
function observeVersion(
  cluster: EtcdCluster,
  members: readonly SeenMember[],
  nowMs: number,
): Pick<Seen, "targetVersion" | "versionRefusal"> {
  const versions = members
    .map((member) => member.status?.version ?? podVersion(member.pod))
    .filter((version) => version !== undefined)
    .sort(compareVersions);
  const running = versions[0] ?? cluster.status?.currentVersion;
  const refusal = running === undefined ? undefined : upgradeRefusal(running, cluster.spec.version, nowMs);
  if (refusal === undefined) return { targetVersion: cluster.spec.version };
  return { targetVersion: versions.at(-1) ?? running ?? cluster.spec.version, versionRefusal: refusal };
}

/** Why no step that interrupts clients may begin now. */
function closedWindow({ spec: { maintenanceWindows: windows = [] } }: EtcdCluster, nowMs: number): string | undefined {
  const refusal = windowRefusal(windows);
  if (refusal !== undefined) return refusal;
  const { open, untilMs = nowMs } = windowState(windows, nowMs);
  return open ? undefined : `the next maintenance window opens at ${new Date(untilMs).toISOString()}`;
}

function distinctClusterIds(members: readonly SeenMember[]): readonly string[] {
  const ids = new Set<string>();
  for (const { status } of members) if (status !== undefined) ids.add(status.clusterId);
  return [...ids].sort();
}
