/** What follows from a snapshot before any step is chosen: judgements by the spec and by the time; pure. */
import { compareVersions, type FencingDecision, windowRefusal, windowState } from "@setpoint/data-service";
import { compareQuantities, parseQuantity, type Service } from "setpoint/kinds";
import type { KubeObject } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { upgradeRefusal } from "../kind/etcd-version.ts";
import { labels } from "../kind/member-names.ts";
import { isBudgetAsWanted } from "../resources/disruption-budget.ts";
import { podVersion } from "../resources/member-image.ts";
import { memberLabels } from "../resources/member-pod.ts";
import { isOutdated } from "../resources/member-template.ts";
import { isRetained } from "../resources/retained-volumes.ts";
import { isAsWanted, isOutsideOfLoopback, serviceRoles } from "../resources/services.ts";
import { removesCopies } from "../resources/survivor-copy.ts";
import { isRestoring } from "../seen/restore-view.ts";
import type { Seen, SeenMember } from "../seen/seen.ts";
import { judgeFencing } from "./fencing-judgement.ts";

/** A snapshot with what follows from it. The rules of the plan and the status read it. */
export interface Situation extends Seen {
  /** Members that a user keeps stopped. */
  readonly fencing: FencingDecision;
  /** The member on whose volume a copy is due to be removed. */
  readonly copyToRemove?: string | undefined;
  /** Members whose volume would be kept or deleted with the cluster against its `deletionPolicy`. */
  readonly misowned: readonly string[];
  /** Members whose pod or volume has labels that another client changed. */
  readonly mislabelled: readonly string[];
  /** Members whose pod was made with older settings of the spec. */
  readonly outdated: readonly string[];
  /** Members whose volume is smaller than the spec wants. */
  readonly small: readonly string[];
  /** Whether the PodDisruptionBudget is missing or differs from the desired one. */
  readonly needsBudget: boolean;
  /** The version to which members are upgraded: the spec's, or the running one when that is refused. */
  readonly targetVersion: string;
  /** Why the spec's version is refused. */
  readonly versionRefusal?: string | undefined;
  /** Why no step that interrupts clients may begin now: the maintenance windows are closed. */
  readonly closed?: string | undefined;
  /** Names of Services that are missing or differ from the desired ones. */
  readonly servicesToApply: readonly string[];
  /** A Service of our name that another owner has. */
  readonly serviceTaken?: string | undefined;
  /** Pods have loopback addresses of their own, as everywhere but on a node whose pods share the host's. */
  readonly hasLoopback: boolean;
}

/** Judges the facts of a snapshot. */
export function judge(seen: Seen): Situation {
  const { cluster, members, givenUp, nowMs, quorum, restore } = seen;
  const everybody = [...members, ...givenUp].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const copyToRemove = seen.copyImage === undefined ? undefined : dueCopy(cluster, nowMs);
  return {
    ...seen,
    fencing: judgeFencing(cluster, members, quorum, isRestoring(restore)),
    copyToRemove,
    misowned: everybody.filter((member) => isMisowned(cluster, member)).map(({ name }) => name),
    mislabelled: members.filter((member) => isMislabelled(cluster, member)).map(({ name }) => name),
    outdated: members.filter((member) => isToRestart(seen, member, copyToRemove)).map(({ name }) => name),
    small: members.filter((member) => isSmall(cluster, member)).map(({ name }) => name),
    needsBudget: seen.budget === undefined || !isBudgetAsWanted(seen.budget, cluster),
    ...judgeVersion(seen),
    closed: closedWindow(cluster, nowMs),
    ...judgeServices(seen),
  };
}

/** Its pod has older settings, or trusts too few authorities, or has to remove a copy at its start. */
function isToRestart({ cluster, certificates }: Seen, { name, pod }: SeenMember, copyToRemove?: string): boolean {
  if (isOutdated(cluster, pod) || certificates?.due.blockedBy?.includes(name) === true) return true;
  return name === copyToRemove && pod !== undefined && !removesCopies(pod);
}

/** The member whose copy has been kept for long enough. */
function dueCopy({ spec, status }: EtcdCluster, nowMs: number): string | undefined {
  const { state, copy, survivor } = status?.quorumRecovery ?? {};
  if (state !== "Recovered" || copy === undefined || copy.removedAt !== undefined) return undefined;
  return Date.parse(copy.madeAt) + spec.quorumRecovery.keepCopySeconds * 1_000 <= nowMs ? survivor : undefined;
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

function judgeServices({
  cluster,
  services,
}: Seen): Pick<Situation, "servicesToApply" | "serviceTaken" | "hasLoopback"> {
  const servicesToApply: string[] = [];
  let hasLoopback = false;
  for (const role of serviceRoles) {
    const name = role.nameOf(cluster.metadata.name ?? "");
    const present = services.get(name);
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
function judgeVersion({ cluster, members, nowMs }: Seen): Pick<Situation, "targetVersion" | "versionRefusal"> {
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
