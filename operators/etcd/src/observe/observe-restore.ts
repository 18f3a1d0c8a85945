/**
 * What is seen of a restore: its mark, the volumes of before and after, and the cluster as it is once its
 * data are exchanged.
 */
import { restoreMarkOf } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { beforeRestore, preparedFor, seedName, setAsideBy } from "../kind/restore-names.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels, volumeName } from "../kind/member-names.ts";
import { clientServiceName } from "../resources/services.ts";
import type { RestoreView } from "../seen/restore-view.ts";

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
