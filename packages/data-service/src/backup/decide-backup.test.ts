/** The step that a Backup lists. */
import type { KubeObject, Stored } from "setpoint";
import { expect, test } from "vitest";
import type { BackupStore } from "../kinds/backup-store.ts";
import { Backup } from "../kinds/backup.ts";
import { decideBackup } from "./decide-backup.ts";
import type { SeenBackup } from "./seen-backup.ts";

const uid = "0b5ff1de-0000-4000-8000-000000000000";

function stored<T extends KubeObject>(object: T): Stored<T> {
  const place = { namespace: "default", uid, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { ...object, metadata: { ...object.metadata, ...place } } as Stored<T>;
}

const backup = Backup({
  name: "first",
  spec: { instance: { apiGroup: "examples.setpoint.dev", kind: "Store", name: "orders" }, store: "s3" },
});

function seen(status?: Backup["status"]): SeenBackup {
  return {
    backup: stored({ ...backup, ...(status === undefined ? {} : { status }) }),
    nowMs: Date.parse("2026-01-01T00:01:00Z"),
    // Only whether it is there decides.
    store: { metadata: { name: "s3" } } as BackupStore,
    storeRefusal: undefined,
    instance: { uid, state: { serving: true, engineVersion: "1.0.0" }, source: { request: {} } },
    ...{ external: undefined, image: "operator", transfer: { state: "missing" }, pods: [], ahead: undefined },
  };
}

test("a backup lists one step until it has finished, and none while it waits", () => {
  const stepsOf = (each: SeenBackup): unknown => decideBackup(each).status.plannedSteps;
  expect(stepsOf(seen())).toEqual([
    {
      action: "TakeBackup",
      reason: 'a snapshot of the data of Store "orders" is written to BackupStore "s3" and read back',
      interruption: "none",
    },
  ]);
  expect(stepsOf(seen({ phase: "Verifying" }))).toMatchObject([{ action: "VerifyBackup" }]);
  expect(stepsOf({ ...seen(), store: undefined })).toBe(undefined);
  expect(stepsOf(seen({ phase: "Succeeded" }))).toBe(undefined);
});
