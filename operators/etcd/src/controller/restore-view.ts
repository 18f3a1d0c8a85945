/**
 * What is seen of a restore: its mark, the volumes of before and after, and the cluster as it is once its
 * data are exchanged.
 */
import { type RestoreMark, restoreMarkOf } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { beforeRestore, preparedFor, seedName, setAsideBy } from "../backup/restore-names.ts";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { labels, volumeName } from "../member-names.ts";
import { clientServiceName } from "../resources/services.ts";

/** The volumes of a cluster by what a restore makes of them. */
export interface RestoreView {
  readonly mark: RestoreMark | undefined;
  /** Has the restored data, and is nobody's yet. */
  readonly prepared: readonly PersistentVolumeClaim[];
  /** Set aside by the restore that `mark` names. */
  readonly before: readonly PersistentVolumeClaim[];
  /** Set aside by earlier ones. */
  readonly older: readonly PersistentVolumeClaim[];
  /** In use: those whose members make the cluster. */
  readonly current: readonly PersistentVolumeClaim[];
  /** Of those in use, the ones with data of the restore that `mark` names. */
  readonly restored: readonly PersistentVolumeClaim[];
}

type Status = NonNullable<EtcdCluster["status"]>;

export function observeRestore(cluster: EtcdCluster, context: ReconcileContext): RestoreView {
  const { uid = "" } = cluster.metadata;
  const mark = restoreMarkOf(cluster);
  if (mark === undefined) return { mark, prepared: [], before: [], older: [], current: [], restored: [] };
  const claims = context.list(PersistentVolumeClaim);
  const belongingTo = (owner: string): readonly PersistentVolumeClaim[] =>
    claims.filter(({ metadata }) => metadata.annotations?.[labels.clusterUid] === owner);
  const current = belongingTo(uid);
  // The seed is exchanged last: before it is in use, nothing in use is restored.
  const seed = volumeName(seedName(cluster, mark.id));
  const isExchanged = current.some(({ metadata }) => metadata.name === seed);
  const isOfThis = ({ metadata }: PersistentVolumeClaim): boolean => metadata.annotations?.[setAsideBy] === mark.id;
  const restored = current.filter((claim) => !isOfThis(claim));
  const setAside = belongingTo(beforeRestore(uid));
  return {
    mark,
    prepared: belongingTo(preparedFor(uid, mark.id)),
    before: setAside.filter(isOfThis),
    older: setAside.filter((claim) => !isOfThis(claim)),
    current,
    restored: isExchanged ? restored : [],
  };
}

/** The cluster as the plan sees it: with the members of the data that are in use. */
export function withRestoredStatus(cluster: EtcdCluster, view: RestoreView): EtcdCluster {
  const { mark, prepared, restored, before } = view;
  const record = cluster.status?.restore;
  if (mark?.state === "start" && record?.id !== mark.id && prepared.length === 0 && restored.length > 0)
    return { ...cluster, status: onRestoredData(cluster, mark.id) };
  const isBack = mark?.state === "back" && record?.id === mark.id && record.back !== true;
  if (isBack && restored.length === 0 && before.length === 0 && cluster.status !== undefined)
    return { ...cluster, status: onPreviousData(cluster.status) };
  return cluster;
}

/** A cluster whose only member is the seed, which has not started; what it was before is kept. */
function onRestoredData(cluster: EtcdCluster, id: string): Status {
  const { clusterID, initialMembers, members = [], currentVersion } = cluster.status ?? {};
  const previous = {
    clusterID,
    initialMembers,
    members: members.map((member) => ({ name: member.name, id: member.id })),
  };
  return {
    phase: "Creating",
    size: 0,
    readyMembers: 0,
    members: [],
    initialMembers: [seedName(cluster, id)],
    serviceName: clientServiceName(cluster.metadata.name ?? ""),
    selector: `${labels.cluster}=${cluster.metadata.name ?? ""}`,
    currentVersion,
    restore: { id, previous },
  };
}

function onPreviousData(status: Status): Status {
  const { restore } = status;
  if (restore === undefined) return status;
  const { clusterID, initialMembers, members } = restore.previous;
  const recorded = members.map(({ name, id }) => ({ name, id, role: "Unknown" as const, healthy: false }));
  return { ...status, clusterID, initialMembers, members: recorded, restore: { ...restore, back: true } };
}
