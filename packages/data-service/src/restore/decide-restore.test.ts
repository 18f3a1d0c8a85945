/** What the last steps of a restore in place decide when the volume with the restored data is not there. */
import type { KubeObject, Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { Restore } from "../kinds/restore.ts";
import { decideRestore } from "./decide-restore.ts";
import type { SeenRestore } from "./seen-restore.ts";

const id = "0b5ff1de";
const uid = `${id}-0000-4000-8000-000000000000`;
const place = { namespace: "default", uid, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function stored<T extends KubeObject>(object: T): Stored<T> {
  return { ...object, metadata: { ...object.metadata, ...place } } as Stored<T>;
}

const instance: KubeObject = { apiVersion: "examples.setpoint.dev/v1", kind: "Store", metadata: { name: "orders" } };
const volume = PersistentVolumeClaim({ name: "restored", spec: { accessModes: ["ReadWriteOnce"], resources: {} } });
const restore: Restore = {
  ...Restore({
    name: "back",
    spec: {
      instance: { apiGroup: "examples.setpoint.dev", kind: "Store", name: "orders" },
      source: { backup: "first" },
      inPlace: {},
    },
  }),
  status: { phase: "Starting", id, instanceUID: uid, startedAt: "2026-01-01T00:00:00Z" },
};

/** The instance was asked to start on the restored data. */
function seen(serving: boolean, claim: SeenRestore["claim"]): SeenRestore {
  return {
    ...{ restore: stored(restore), claim, nowMs: Date.parse("2026-01-01T00:01:00Z"), inPhaseMs: 0, image: "operator" },
    target: {
      ...{ object: stored(instance), uid },
      state: { serving, restored: id, engineVersion: "1.0.0" },
      mark: { id, state: "start" },
    },
    transfer: { state: "missing" },
    ...{
      backup: undefined,
      store: undefined,
      storeRefusal: undefined,
      archive: undefined,
      replayRefusal: undefined,
      refusal: undefined,
      versionRefusal: () => undefined,
      original: undefined,
    },
    ...{ safetyBackup: undefined, ahead: undefined, pods: [], spentPods: [] },
  };
}

const deleted = {
  ...stored(volume),
  metadata: { ...stored(volume).metadata, deletionTimestamp: "2026-01-01T00:00:30Z" },
};

test.each([
  ["is there, and the instance does not serve yet", false, stored(volume), "Starting"],
  ["is gone before the instance serves", false, undefined, "RollingBack"],
  ["is being deleted before the instance serves", false, deleted, "RollingBack"],
  ["is being deleted while the instance serves from it", true, deleted, "Succeeded"],
])("when the volume %s", (_, serving, claim, phase) => {
  expect(decideRestore(seen(serving, claim)).status.phase).toBe(phase);
});

test("a pod that has prepared the volume goes before anything else: it would keep the volume for ever", () => {
  const pod = Pod({ name: "back-restore-prepare-1", spec: { containers: [{ name: "prepare" }] } });
  for (const phase of ["Starting", "RollingBack", "Succeeded", "Failed"] as const) {
    const situation = {
      ...seen(true, stored(volume)),
      restore: stored({ ...restore, status: { ...restore.status, phase } }),
    };
    expect(decideRestore({ ...situation, spentPods: [stored(pod)] }).step).toMatchObject({
      action: "deletePods",
      args: { pods: ["back-restore-prepare-1"] },
    });
    expect(decideRestore(situation).step).not.toMatchObject({ action: "deletePods" });
  }
});
