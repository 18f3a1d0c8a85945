/** Brings volumes to the size of the spec, and enlarges those that the data fill; pure. */
import { wait } from "setpoint";
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, quantityValue } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import { isVolumeLeaving, type SeenMember } from "../seen/seen.ts";
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
function planGrowth({ spec }: EtcdCluster, member: SeenMember): EtcdStep | undefined {
  const growth = spec.maintenance.volumeGrowth;
  const asked = member.volume?.spec?.resources?.requests?.["storage"];
  const used = member.status?.dbSize;
  if (growth === undefined || asked === undefined || used === undefined || isVolumeLeaving(member)) return undefined;
  const present = parseQuantity(String(asked));
  const percent = Math.floor((100 * used) / Number(quantityValue(present)));
  if (percent < growth.whenUsedPercent) return undefined;
  const [max, next] = [parseQuantity(growth.max), addQuantities(present, parseQuantity(growth.step))];
  const target = compareQuantities(next, max) > 0 ? max : next;
  const use = `the data of ${member.name} take ${percent} % of its volume of ${asked}`;
  if (compareQuantities(target, present) <= 0)
    return wait(
      `${use}, which may grow to ${growth.max} by itself: delete keys, or raise spec.maintenance.volumeGrowth.max`,
      recheckMs,
    );
  const storage = formatQuantity(target);
  return act("growVolume", { member: member.name, storage }, `${use}: it grows to ${storage}`);
}
