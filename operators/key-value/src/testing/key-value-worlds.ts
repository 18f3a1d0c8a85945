/** What is explored of this operator. Only tests import this. */
import { Backup, Restore } from "@setpoint/data-service";
import {
  allOracles,
  excuseFaults,
  type FaultKind,
  type LawOptions,
  remove,
  type Setting,
  type StoryInit,
  story,
} from "setpoint/testing";
import { backup, keyValueSetting, keyValueStore, ordersReference, storeClaim, vault } from "./key-value-stage.ts";

export const subject = (): Setting => {
  const { server: _server, transfers: _transfers, ...setting } = keyValueSetting();
  return setting;
};

const begin = [storeClaim, vault, keyValueStore("orders"), backup("first")];
const source = { instance: ordersReference, source: { backup: "first" } };

export const worlds: readonly StoryInit[] = [
  story("a backup is taken", ...begin),
  story("a backup is deleted", ...begin, remove(Backup, "first")),
  story("a backup is restored in place", ...begin, Restore({ name: "back", spec: { ...source, inPlace: {} } })),
  story(
    "a backup is restored into a new instance",
    ...begin,
    Restore({ name: "back", spec: { ...source, newInstance: { name: "copy" } } }),
  ),
];

/**
 * Faults that destroy or change a pod. An attempt that they end leaves its pod, and the next one has another
 * name.
 */
const costsAttempt: ReadonlySet<FaultKind> = new Set(["E1", "E2", "E8", "E9"]);

/**
 * A request that the server executes late may start the deletion of stored data again: what is gone stays
 * gone.
 */
const repeatsDeletion: ReadonlySet<FaultKind> = new Set(["B3"]);

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, {
    "same end as without faults": ({ kind }) => costsAttempt.has(kind),
    "no work twice": ({ kind }) => repeatsDeletion.has(kind),
  }),
  // A fault may cost an attempt, and time.
  mayDiffer: ["Backup.status.attempt", "KeyValueStore.status.conditions", "Restore.status.recoverySeconds"],
};
