/** What is explored of this operator. Only tests import this. */
import { Restore } from "@setpoint/data-service";
import {
  allOracles,
  excuseFaults,
  type FaultKind,
  type LawOptions,
  type Setting,
  type StoryInit,
  story,
} from "setpoint/testing";
import { appendLogSetting, backup, orders, ordersReference, storeClaim, vault } from "./append-log-stage.ts";

export const subject = (): Setting => {
  const { model: _model, ...setting } = appendLogSetting();
  return setting;
};

const begin = [storeClaim, vault, orders, backup("first")];
const source = { instance: ordersReference, source: { archive: { store: "vault" } }, target: { position: "0" } };

export const worlds: readonly StoryInit[] = [
  story("an AppendLog is created", storeClaim, vault, orders),
  story("an archive is restored in place", ...begin, Restore({ name: "back", spec: { ...source, inPlace: {} } })),
  story(
    "an archive is restored into a new instance",
    ...begin,
    Restore({ name: "back", spec: { ...source, newInstance: { name: "copy" } } }),
  ),
];

/**
 * A fault that ends a pod may cost an attempt, or promote the other member. An operator that does not see the
 * Backup takes it when the Restore has found no backup in the archive, and has failed. A clock that jumps by
 * a deadline ends a Backup whose pod has not started.
 */
const mayEndOtherwise: ReadonlySet<FaultKind> = new Set(["C5", "C7", "D4", "E1", "E2", "E8", "E9"]);

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, {
    "same end as without faults": ({ kind }) => mayEndOtherwise.has(kind),
    "no work twice": ({ kind }) => kind === "D4",
  }),
  // A fault may cost an attempt, time, or a promotion.
  mayDiffer: [
    ...["Backup.status.attempt", "Restore.status.recoverySeconds", "AppendLog.status.conditions"],
    ...["AppendLog.status.primary", "AppendLog.status.timeline", "AppendLog.status.members"],
  ],
};
