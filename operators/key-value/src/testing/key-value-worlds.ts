/** What is explored of this operator. Only tests import this. */
import { Backup } from "@setpoint/data-service";
import { type LawOptions, remove, type Setting, type StoryInit, story } from "setpoint/testing";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { backup, keyValueSetting, keyValueStore, vault } from "./key-value-stage.ts";

export const subject = (): Setting => {
  const { server: _server, transfers: _transfers, ...setting } = keyValueSetting();
  return setting;
};

const storeClaim = PersistentVolumeClaim({
  name: "vault",
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

export const worlds: readonly StoryInit[] = [
  story("a backup is taken", storeClaim, vault, keyValueStore("orders"), backup("first")),
  story(
    "a backup is deleted",
    storeClaim,
    vault,
    keyValueStore("orders"),
    backup("first"),
    remove(Backup, "first"),
  ),
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  // A fault may cost an attempt.
  mayDiffer: ["Backup.status.attempt", "KeyValueStore.status.conditions"],
};
