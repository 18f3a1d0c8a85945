/** What follows from a snapshot before any step is chosen: judgements by the spec and by the time; pure. */
import {
  closedWindow,
  compareVersions,
  type FencingDecision,
  isBudgetAsWanted,
  isClaimSmall,
  isMisowned,
  judgeServices,
  type ServiceJudgement,
} from "@setpoint/data-service";
import type { KubeObject } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { upgradeRefusal } from "../kind/etcd-version.ts";
import { labels } from "../kind/member-names.ts";
import { podVersion } from "../resources/member-image.ts";
import { memberLabels } from "../resources/member-pod.ts";
import { isOutdated } from "../resources/member-template.ts";
import { memberSet, minAvailable, serviceRoles } from "../resources/services.ts";
import { removesCopies } from "../resources/survivor-copy.ts";
import { isRestoring } from "../seen/restore-view.ts";
import type { Seen, SeenMember } from "../seen/seen.ts";
import { judgeFencing } from "./fencing-judgement.ts";

/** A snapshot with what follows from it. The rules of the plan and the status read it. */
export interface Situation extends Seen, ServiceJudgement {
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
}

/** Judges the facts of a snapshot. */
export function judge(seen: Seen): Situation {
  const { cluster, members, givenUp, nowMs, quorum, restore } = seen;
  const everybody = [...members, ...givenUp].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const policy = cluster.spec.deletionPolicy;
  const storage = cluster.spec.volumeClaimTemplate?.resources.requests.storage;
  const copyToRemove = seen.copyImage === undefined ? undefined : dueCopy(cluster, nowMs);
  return {
    ...seen,
    fencing: judgeFencing(cluster, members, quorum, isRestoring(restore)),
    copyToRemove,
    misowned: everybody
      .filter(({ volume }) => isMisowned(volume, { uid: cluster.metadata.uid, policy, label: labels.deletionPolicy }))
      .map(({ name }) => name),
    mislabelled: members.filter((member) => isMislabelled(cluster, member)).map(({ name }) => name),
    outdated: members.filter((member) => isToRestart(seen, member, copyToRemove)).map(({ name }) => name),
    small: members.filter(({ volume }) => isClaimSmall(volume, storage)).map(({ name }) => name),
    needsBudget: seen.budget === undefined || !isBudgetAsWanted(seen.budget, memberSet(cluster), minAvailable(cluster)),
    ...judgeVersion(seen),
    closed: closedWindow(cluster.spec.maintenanceWindows, nowMs),
    ...judgeServices(memberSet(cluster), serviceRoles, seen.services),
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
