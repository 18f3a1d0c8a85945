/** The steps that a Restore lists are the phases that it goes through. */
import type { KubeObject, Stored } from "setpoint";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { expect, test } from "vitest";
import { Backup } from "../kinds/backup.ts";
import { Restore } from "../kinds/restore.ts";
import { decideRestore, type RestoreStatus } from "./decide-restore.ts";
import type { BackupStore } from "../kinds/backup-store.ts";
import type { SeenRestore } from "./seen-restore.ts";

const uid = "0b5ff1de-0000-4000-8000-000000000000";
const id = uid.slice(0, 8);

function stored<T extends KubeObject>(object: T): Stored<T> {
  const place = { namespace: "default", uid, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { ...object, metadata: { ...object.metadata, ...place } } as Stored<T>;
}

const reference = { apiGroup: "examples.setpoint.dev", kind: "Store", name: "orders" };
const spec = { instance: reference, source: { backup: "first" } };
const inPlace = Restore({ name: "back", spec: { ...spec, inPlace: {} } });
const intoNew = Restore({ name: "back", spec: { ...spec, newInstance: { name: "copy" } } });
const succeeded: Backup = {
  ...Backup({ name: "first", spec: { instance: reference, store: "s3" } }),
  status: { phase: "Succeeded" },
};
const instance: KubeObject = { apiVersion: "examples.setpoint.dev/v1", kind: "Store", metadata: { name: "orders" } };

/** Whatever the present phase waits for has happened. */
function allDone(restore: Restore, status: RestoreStatus | undefined): SeenRestore {
  const marks = { Stopping: "stop", Starting: "start" } as const;
  const phase = status?.phase ?? "Pending";
  const isStarting = phase === "Starting";
  return {
    ...{ nowMs: Date.parse("2026-01-01T00:01:00Z"), inPhaseMs: 0, image: "operator" },
    // Only whether it is there decides.
    store: { metadata: { name: "s3" } } as BackupStore,
    storeRefusal: undefined,
    archive: undefined,
    replayRefusal: undefined,
    spentPods: [],
    restore: stored({ ...restore, ...(status === undefined ? {} : { status }) }),
    ...{ backup: stored(succeeded), safetyBackup: stored(succeeded), ahead: undefined, pods: [], original: undefined },
    target: {
      ...{ object: stored(instance), uid },
      state: { serving: true, engineVersion: "1.0.0", stoppedFor: id, ...(isStarting ? { restored: id } : {}) },
      mark: { id, state: phase === "Stopping" || isStarting ? marks[phase] : "waiting" },
    },
    transfer: { state: "ended", uid, result: { outcome: "done" } },
    claim: stored(PersistentVolumeClaim({ name: "restored", spec: { accessModes: ["ReadWriteOnce"], resources: {} } })),
    ...{ refusal: undefined, versionRefusal: () => undefined },
  };
}

/** The first listed step of each phase, from the begin to the end. */
function walk(restore: Restore): readonly (readonly [string, string | undefined])[] {
  let status: RestoreStatus | undefined;
  const walked: [string, string | undefined][] = [];
  while (status?.phase !== "Succeeded" && walked.length < 10) {
    ({ status } = decideRestore(allDone(restore, status)));
    walked.push([status.phase, status.plannedSteps?.[0]?.action]);
  }
  return walked;
}

test("each phase of a restore begins with the first of the steps that are left", () => {
  expect(walk(inPlace)).toEqual([
    ["Verifying", "VerifySource"],
    ["SavingPresent", "SafetyBackup"],
    ["Stopping", "StopMembers"],
    ["Preparing", "PrepareVolume"],
    ["Starting", "SwapVolumes"],
    ["Succeeded", undefined],
  ]);
  expect(walk(intoNew)).toEqual([
    ["Verifying", "VerifySource"],
    ["Preparing", "PrepareVolume"],
    ["Starting", "StartMembers"],
    ["Succeeded", undefined],
  ]);
});

test("a restore in place says from the first phase on when clients are interrupted and where there is no way back", () => {
  const { plannedSteps = [] } = decideRestore(allDone(inPlace, undefined)).status;
  expect(plannedSteps.map(({ action, interruption }) => `${action}: ${interruption}`)).toEqual([
    "VerifySource: none",
    "SafetyBackup: none",
    "StopMembers: reads and writes fail from here until the last step has finished",
    "PrepareVolume: reads and writes still fail",
    "SwapVolumes: reads and writes still fail",
    "StartMembers: reads and writes still fail, until it serves",
  ]);
  expect(plannedSteps.filter(({ noReturn }) => noReturn !== undefined)).toMatchObject([
    { action: "StartMembers", noReturn: expect.stringMatching(/^when it serves, .* Backup "back-safety"/) },
  ]);
});

test("a restore into a new instance interrupts nobody", () => {
  const { plannedSteps = [] } = decideRestore(allDone(intoNew, undefined)).status;
  expect(plannedSteps.map(({ interruption, noReturn }) => [interruption, noReturn])).toEqual(
    plannedSteps.map(() => ["none", undefined]),
  );
});

test("a restore that waits, has failed or goes back lists no steps", () => {
  const waiting = { ...allDone(inPlace, undefined), backup: undefined };
  expect(decideRestore(waiting).status.plannedSteps).toBe(undefined);
  const failing = { ...allDone(inPlace, { phase: "Starting", id, instanceUID: uid }), claim: undefined };
  const { target } = failing;
  const lost = { ...failing, target: target && { ...target, state: { ...target.state, serving: false } } };
  expect(decideRestore(lost).status).toMatchObject({ phase: "RollingBack", plannedSteps: undefined });
});
