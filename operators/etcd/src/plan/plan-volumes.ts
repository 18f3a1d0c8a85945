/** Brings volumes to the size of the spec, and enlarges those that the data fill; pure. */
import { dueGrowth } from "@setpoint/data-service";
import { wait } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/**
 * One volume at a time. A class of storage that does not allow it must not hold up anything else, so this
 * comes last.
 */
export function planVolumes(seen: Situation): EtcdStep | undefined {
  const steps = [planWantedSize(seen), ...seen.members.map((member) => planGrowth(seen.cluster, member))];
  const planned = steps.filter((step) => step !== undefined);
  return planned.find(({ kind }) => kind === "act") ?? planned[0];
}

function planWantedSize({ cluster, small }: Situation): EtcdStep | undefined {
  const storage = cluster.spec.volumeClaimTemplate?.resources.requests.storage;
  const [member] = small;
  if (member === undefined || storage === undefined) return undefined;
  return act("growVolume", { member, storage: String(storage) }, `the volume of ${member} is smaller than ${storage}`);
}

/** The file of etcd alone is measured: its log and snapshots take a bounded part of the rest. */
function planGrowth({ spec }: EtcdCluster, { name, volume, status }: SeenMember): EtcdStep | undefined {
  const { volumeGrowth } = spec.maintenance;
  const due = dueGrowth(volume, status?.dbSize, volumeGrowth);
  if (due === undefined) return undefined;
  const use = `the data of ${name} take ${due.percent} % of its volume of ${due.asked}`;
  if (due.to !== undefined)
    return act("growVolume", { member: name, storage: due.to }, `${use}: it grows to ${due.to}`);
  return wait(
    `${use}, which may grow to ${volumeGrowth?.max} by itself: delete keys, or raise spec.maintenance.volumeGrowth.max`,
    recheckMs,
  );
}
