/** Reads everything that the plan needs into one snapshot; changes nothing. */
import { PersistentVolumeClaim, Pod, Service } from "setpoint/kinds";
import type { KubeObject, ReconcileContext } from "setpoint";
import { type AcceptanceOptions, acceptSpec } from "../accepted-spec.ts";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { compareEtcdVersions, upgradeRefusal } from "../etcd-version.ts";
import type { EtcdGateway, ListedMember, MemberList, MemberStatus } from "../gateway/etcd-gateway.ts";
import { labels, memberOfPeerUrl, memberOfVolume, volumeName } from "../member-names.ts";
import { memberEndpoint, memberLabels } from "../resources/member-pod.ts";
import { isRetained } from "../resources/retained-volumes.ts";
import { isAsWanted, serviceRoles } from "../resources/services.ts";
import { isHealthy, podState, podVersion, type Seen, type SeenMember } from "./seen.ts";
import type { SilenceWatch } from "./silence-watch.ts";

/** What an observation uses beyond the API server. */
export interface ObservationPorts {
  readonly gateway: EtcdGateway;
  readonly silence: SilenceWatch;
  readonly accepts: AcceptanceOptions;
}

export async function observe(
  wanted: EtcdCluster,
  context: ReconcileContext,
  { gateway, silence, accepts }: ObservationPorts,
): Promise<Seen> {
  const services = context.list(Service, { namespace: wanted.metadata.namespace ?? "" });
  const { cluster, refusals } = acceptSpec(wanted, services, accepts);
  const pods = byMember(context.owned(Pod), (name) => name);
  const shown = byMember(volumesOf(cluster, context), memberOfVolume);
  const unseen = unseenVolumes(shown, pods, cluster);
  const volumes = unseen.length === 0 ? shown : await withFresh(shown, unseen, cluster, context);
  const statuses = await askMembers(pods, gateway, context.signal);
  const list = await askQuorum(pods, statuses, gateway, context.signal);
  const listed = byName(list?.members ?? []);
  const recorded = new Map((cluster.status?.members ?? []).map((member) => [member.name, member]));
  const names = new Set([
    ...pods.keys(),
    ...volumes.keys(),
    ...listed.keys(),
    ...(list === undefined ? recorded.keys() : []),
  ]);
  const parts = { pods, volumes, statuses, listed, recorded };
  const members = withSilence(
    cluster,
    [...names].sort().map((name) => seenMember(name, parts)),
    silence,
    context,
  );
  const { servicesToApply, serviceTaken } = observeServices(cluster, context);
  const { targetVersion, versionRefusal } = observeVersion(cluster, members);
  return {
    cluster,
    refusals,
    members,
    servicesToApply,
    serviceTaken,
    targetVersion,
    versionRefusal,
    misowned: members.filter((member) => isMisowned(cluster, member)).map(({ name }) => name),
    mislabelled: members.filter((member) => isMislabelled(cluster, member)).map(({ name }) => name),
    quorum: list !== undefined,
    clusterIds: distinctClusterIds(members),
  };
}

interface Parts {
  readonly pods: ReadonlyMap<string, Pod>;
  readonly volumes: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly statuses: ReadonlyMap<string, MemberStatus>;
  readonly listed: ReadonlyMap<string, ListedMember>;
  readonly recorded: ReadonlyMap<string, NonNullable<EtcdCluster["status"]>["members"][number]>;
}

function seenMember(name: string, parts: Parts): SeenMember {
  const listed = parts.listed.get(name);
  return {
    name,
    pod: parts.pods.get(name),
    volume: parts.volumes.get(name),
    status: parts.statuses.get(name),
    listed: listed === undefined ? undefined : { id: listed.id, learner: listed.learner, started: listed.name !== "" },
    recorded: parts.recorded.get(name),
  };
}

function withSilence(
  { metadata: { uid = "" } }: EtcdCluster,
  members: readonly SeenMember[],
  silence: SilenceWatch,
  { clock }: ReconcileContext,
): readonly SeenMember[] {
  const problems = members.map(problemOf);
  const said = problems.filter((matter) => matter !== undefined);
  const nowMs = clock.monotonic();
  const since = silence.note(uid, said, nowMs);
  if (since.size === 0) return members;
  return members.map((member, at) => {
    const sinceMs = since.get(problems[at] ?? "");
    if (sinceMs === undefined) return member;
    const forMs = nowMs - sinceMs;
    return podState(member.pod) === "failed" ? { ...member, failedForMs: forMs } : { ...member, silentForMs: forMs };
  });
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
  const { namespace = "", uid } = cluster.metadata;
  const claims = context.list(PersistentVolumeClaim, { namespace });
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

async function askMembers(
  pods: ReadonlyMap<string, Pod>,
  gateway: EtcdGateway,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MemberStatus>> {
  const answers = new Map<string, MemberStatus>();
  const asked: Promise<unknown>[] = [];
  for (const [name, pod] of pods) {
    const endpoint = podState(pod) === "running" ? memberEndpoint(pod) : undefined;
    if (endpoint === undefined) continue;
    const answered = (status: MemberStatus): unknown => answers.set(name, status);
    asked.push(gateway.status(endpoint, signal).then(answered, () => {}));
  }
  if (asked.length > 0) await Promise.all(asked);
  signal.throwIfAborted();
  return answers;
}

/** The member list from a voter that can reach a quorum, the leader first. */
async function askQuorum(
  pods: ReadonlyMap<string, Pod>,
  statuses: ReadonlyMap<string, MemberStatus>,
  gateway: EtcdGateway,
  signal: AbortSignal,
): Promise<MemberList | undefined> {
  const voters = [...statuses].filter(([, status]) => !status.learner && status.leaderId !== "");
  voters.sort(([, a], [, b]) => Number(b.leaderId === b.memberId) - Number(a.leaderId === a.memberId));
  for (const [name] of voters) {
    const pod = pods.get(name);
    const endpoint = pod === undefined ? undefined : memberEndpoint(pod);
    const list = endpoint === undefined ? undefined : await gateway.members(endpoint, signal).catch(() => undefined);
    if (list !== undefined) return list;
  }
  signal.throwIfAborted();
  return undefined;
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

function observeServices(
  cluster: EtcdCluster,
  context: ReconcileContext,
): Pick<Seen, "servicesToApply" | "serviceTaken"> {
  const servicesToApply: string[] = [];
  for (const role of serviceRoles) {
    const name = role.nameOf(cluster.metadata.name ?? "");
    const present = context.get(Service, name, cluster.metadata.namespace);
    if (present !== undefined && !isOurs(present, cluster)) return { servicesToApply: [], serviceTaken: name };
    if (present === undefined || !isAsWanted(present, cluster, role)) servicesToApply.push(name);
  }
  return { servicesToApply };
}

function isOurs(service: Service, cluster: EtcdCluster): boolean {
  return service.metadata.ownerReferences?.some((owner) => owner.uid === cluster.metadata.uid) ?? false;
}

/** Members are upgraded to the spec's version only if etcd allows that step from the oldest running one. */
function observeVersion(
  cluster: EtcdCluster,
  members: readonly SeenMember[],
): Pick<Seen, "targetVersion" | "versionRefusal"> {
  const versions = members
    .map((member) => member.status?.version ?? podVersion(member.pod))
    .filter((version) => version !== undefined)
    .sort(compareEtcdVersions);
  const running = versions[0] ?? cluster.status?.currentVersion;
  const refusal = running === undefined ? undefined : upgradeRefusal(running, cluster.spec.version);
  if (refusal === undefined) return { targetVersion: cluster.spec.version };
  return { targetVersion: versions.at(-1) ?? running ?? cluster.spec.version, versionRefusal: refusal };
}

function distinctClusterIds(members: readonly SeenMember[]): readonly string[] {
  const ids = new Set<string>();
  for (const { status } of members) if (status !== undefined) ids.add(status.clusterId);
  return [...ids].sort();
}
