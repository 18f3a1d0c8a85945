/**
 * What the mark of a Restore asks for. Volumes are exchanged only while no member runs, and those from before
 * are deleted only when the Restore says that they are no longer needed.
 */
import { fencedText } from "@setpoint/data-service";
import { wait } from "setpoint";
import type { PersistentVolumeClaim } from "setpoint/kinds";
import { act, type EtcdStep, lookAgainMs, recheckMs } from "./etcd-step.ts";
import { podState } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/** Undefined when the cluster is operated as usual. */
export function planRestore(seen: Situation): EtcdStep | undefined {
  const { restore, cluster } = seen;
  const { mark } = restore;
  if (mark === undefined) return undefined;
  const record = cluster.status?.restore;
  switch (mark.state) {
    case "waiting":
      return wait(`waiting for the data of restore ${mark.id}`, recheckMs);
    case "stop":
      // The cluster goes on as it is: a restore would set the data aside that a user wants to look at.
      if (seen.fencing.fenced.length > 0) return undefined;
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
      if ([...restore.before, ...restore.older].every(isClaimLeaving)) return undefined;
      return act("deleteVolumesBefore", {}, `the volumes from before restore ${mark.id} are no longer needed`);
  }
}

/** A restore that does not begin while a user keeps members stopped. */
export function heldRestore({ fencing, restore: { mark } }: Situation): string | undefined {
  const fenced = fencedText(fencing);
  return fenced === undefined || mark?.state !== "stop" ? undefined : `${fenced}; until then restore ${mark.id} waits`;
}

function planBack(seen: Situation, id: string): EtcdStep | undefined {
  const { before, restored, current } = seen.restore;
  if (before.length === 0 && restored.length === 0) return undefined;
  // Nothing is given up before it is known that there is something to go back to.
  if (before.length === 0 && current.length === restored.length)
    return wait(`restore ${id} cannot be taken back: no volume from before it is left`, recheckMs);
  const stopping = stopMembers(seen, id);
  if (stopping !== undefined) return stopping;
  if (restored.length > 0 && restored.every(isClaimLeaving))
    return wait(`the volumes of restore ${id} are being deleted`, lookAgainMs);
  if (restored.length > 0)
    return act("deleteRestoredVolumes", {}, `restore ${id} is taken back; its data are given up`);
  return act("returnVolumes", {}, `restore ${id} is taken back; the volumes from before return`);
}

export function isClaimLeaving({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** All members at once: nothing of what they do meanwhile is kept or lost. */
function stopMembers({ members, givenUp }: Situation, id: string): EtcdStep | undefined {
  const pods = [...members, ...givenUp].filter(({ pod }) => pod !== undefined);
  if (pods.some(({ pod }) => podState(pod) !== "terminating"))
    return act("stopMembers", {}, `all members stop for restore ${id}`);
  return pods.length === 0 ? undefined : wait(`members are stopping for restore ${id}`, lookAgainMs);
}
