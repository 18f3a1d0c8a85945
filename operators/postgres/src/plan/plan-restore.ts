/** What a Restore asks of the instances: to stop, to start on its data, or to go back; pure. */
import type { RestoreMark } from "@setpoint/data-service";
import { wait } from "setpoint";
import { claimName, wantedInstances } from "../kind/names.ts";
import type { Seen } from "../seen/seen.ts";
import { act, lookAgainMs, type PostgresStep, recheckMs } from "./postgres-step.ts";

/** Undefined when no Restore has anything to ask now. */
export function planRestore(seen: Seen): PostgresStep | undefined {
  const { restore: mark, cluster } = seen;
  if (mark === undefined) return undefined;
  const isOnItsData = cluster.status?.restored === mark.id;
  switch (mark.state) {
    case "waiting":
      return wait(`waiting for the data of restore ${mark.id}`, recheckMs);
    case "stop":
      return stopInstances(seen, mark) ?? wait(`stopped for restore ${mark.id}`, recheckMs);
    case "start":
      return isOnItsData ? missingData(seen, mark) : (stopInstances(seen, mark) ?? startOn(seen, mark));
    case "back":
      return isOnItsData ? (stopInstances(seen, mark) ?? goBack(mark)) : undefined;
    case "done":
      return deleteOtherClaims(seen, mark);
  }
}

function stopInstances({ instances }: Seen, { id }: RestoreMark): PostgresStep | undefined {
  const running = instances.filter(({ pod }) => pod !== undefined);
  const names = running.filter(({ pod }) => pod?.metadata.deletionTimestamp === undefined).map(({ name }) => name);
  if (names.length > 0) return act("stopInstances", { instances: names }, `all instances stop for restore ${id}`);
  return running.length === 0 ? undefined : wait(`instances are stopping for restore ${id}`, lookAgainMs);
}

function startOn({ cluster }: Seen, { id }: RestoreMark): PostgresStep {
  const [primary = ""] = wantedInstances(cluster);
  return act("startRestored", { restoreId: id, primary }, `${primary} starts on the data of restore ${id}`);
}

/** On an empty volume it would begin an empty database, and the restore would seem to have succeeded. */
function missingData({ cluster, instances, otherClaims }: Seen, { id }: RestoreMark): PostgresStep | undefined {
  if (cluster.status?.systemID !== undefined) return undefined;
  const [primary = ""] = wantedInstances(cluster);
  const claim = instances.find(({ name }) => name === primary)?.claim;
  if (claim !== undefined) return undefined;
  const name = claimName(primary, id);
  // The status that names the data was written in this very pass.
  if (otherClaims.some(({ metadata }) => metadata.name === name)) return wait("looking at the volumes again", 0);
  return wait(
    `the volume "${name}" with the data of restore ${id} is gone; that Restore fails after its deadline`,
    recheckMs,
  );
}

function goBack({ id }: RestoreMark): PostgresStep {
  return act("goBack", { restoreId: id }, `restore ${id} is taken back; the volumes from before return`);
}

function deleteOtherClaims({ otherClaims }: Seen, { id }: RestoreMark): PostgresStep | undefined {
  const names = otherClaims
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name ?? "");
  return names.length === 0
    ? undefined
    : act("deleteClaims", { claims: names }, `the volumes from before restore ${id} are no longer needed`);
}
