/**
 * What the mark of a Restore asks for. Volumes are exchanged only while no member runs, and those from before are deleted
 * only when the Restore says that they are no longer needed.
 */
import { wait } from "setpoint";
import type { PersistentVolumeClaim } from "setpoint/kinds";
import { volumeName } from "../member-names.ts";
import { act, electionMs, type EtcdStep, lookAgainMs, recheckMs } from "./etcd-step.ts";
import { initialMembers } from "./initial-members.ts";
import { podReason } from "./pod-reason.ts";
import { failedAtOnce, podState, type Seen } from "./seen.ts";

/** Undefined when the cluster is operated as usual. */
export function planRestore(seen: Seen): EtcdStep | undefined {
  const { restore, cluster } = seen;
  const { mark } = restore;
  if (mark === undefined) return undefined;
  const record = cluster.status?.restore;
  switch (mark.state) {
    case "waiting":
      return wait(`waiting for the data of restore ${mark.id}`, recheckMs);
    case "stop":
      return stopMembers(seen, mark.id) ?? wait(`stopped for restore ${mark.id}`, recheckMs);
    case "start":
      if (restore.prepared.length === 0) return undefined;
      return (
        stopMembers(seen, mark.id) ??
        act("exchangeVolumes", { id: mark.id }, `the data of restore ${mark.id} replace the present ones`)
      );
    case "back":
      return record?.id === mark.id && record.back === true ? undefined : planBack(seen, mark.id);
    case "done":
      if ([...restore.before, ...restore.older].every(isVolumeLeaving)) return undefined;
      return act("deleteVolumesBefore", {}, `the volumes from before restore ${mark.id} are no longer needed`);
  }
}

/**
 * The first start on restored data; undefined for any other. The seed starts on the restored volume and on no other, as a member that
 * exists: on an empty volume it would begin an empty cluster, and the restore would report success.
 */
export function planSeed(seen: Seen): EtcdStep | undefined {
  const { restore, cluster } = seen;
  const record = cluster.status?.restore;
  if (record === undefined || record.back === true) return undefined;
  const [name = ""] = initialMembers(seen);
  const claim = restore.current.find(({ metadata }) => metadata.name === volumeName(name));
  if (claim === undefined || isVolumeLeaving(claim))
    return wait(`the volume with the data of restore ${record.id} was deleted; the previous data come back`, recheckMs);
  if (seen.servicesToApply.length > 0)
    return act("applyServices", {}, `Services ${seen.servicesToApply.join(" and ")} differ from the desired state`);
  const member = seen.members.find((each) => each.name === name) ?? { name };
  const state = podState(member.pod);
  if (failedAtOnce(member)) return wait(`${name} failed as soon as it started on the restored data`, lookAgainMs);
  if (state === "failed") return act("deletePod", { member: name }, `the pod of ${name} failed on the restored data`);
  if (state === "starting" && seen.outdated.includes(name))
    return act("deletePod", { member: name }, `the pod of ${name} has other settings than the spec asks for`);
  if (state === "missing")
    return act(
      "startMember",
      { member: name, initialCluster: [name], state: "existing" },
      `${name} starts on the data of restore ${record.id}`,
    );
  return wait(`${name} starts on the data of restore ${record.id}${podReason(seen, name)}`, electionMs);
}

function planBack(seen: Seen, id: string): EtcdStep | undefined {
  const { before, restored, current } = seen.restore;
  if (before.length === 0 && restored.length === 0) return undefined;
  // Nothing is given up before it is known that there is something to go back to.
  if (before.length === 0 && current.length === restored.length)
    return wait(`restore ${id} cannot be taken back: no volume from before it is left`, recheckMs);
  const stopping = stopMembers(seen, id);
  if (stopping !== undefined) return stopping;
  if (restored.length > 0 && restored.every(isVolumeLeaving))
    return wait(`the volumes of restore ${id} are being deleted`, lookAgainMs);
  if (restored.length > 0)
    return act("deleteRestoredVolumes", {}, `restore ${id} is taken back; its data are given up`);
  return act("returnVolumes", {}, `restore ${id} is taken back; the volumes from before return`);
}

function isVolumeLeaving({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** All members at once: nothing of what they do meanwhile is kept or lost. */
function stopMembers({ members, fenced }: Seen, id: string): EtcdStep | undefined {
  const pods = [...members, ...fenced].filter(({ pod }) => pod !== undefined);
  if (pods.some(({ pod }) => podState(pod) !== "terminating"))
    return act("stopMembers", {}, `all members stop for restore ${id}`);
  return pods.length === 0 ? undefined : wait(`members are stopping for restore ${id}`, lookAgainMs);
}
