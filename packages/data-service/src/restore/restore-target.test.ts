/** What a Restore with a target decides before and after its way is known. */
import type { KubeObject, Stored } from "setpoint";
import { defineKind } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { log, target } from "../archive/append-log.fixture.ts";
import type { EngineControl } from "../engine/control.ts";
import type { BackupStore } from "../kinds/backup-store.ts";
import { Restore } from "../kinds/restore.ts";
import { decideRestore } from "./decide-restore.ts";
import { fetchRequest, verifyRequest } from "./restore-request.ts";
import { archiveFolder, replayRefusal } from "./restore-target.ts";
import type { SeenRestore } from "./seen-restore.ts";

const uid = "0b5ff1de-0000-4000-8000-000000000000";
const reference = { apiGroup: "examples.setpoint.dev", kind: "Store", name: "orders" };
const kind = defineKind({ group: "examples.setpoint.dev", version: "v1", kind: "Store", spec: z.object({}) });
const bare = { name: "store", kind } as unknown as EngineControl<KubeObject>;
const able: EngineControl<KubeObject> = { ...bare, log, target };
const store = { metadata: { name: "vault" }, spec: { claim: { claimName: "vault", prefix: "" } } } as BackupStore;
const way = { object: "store/default/orders/u1/b1", timeline: 1, segments: 2, end: "12", from: "a", to: "b" };

function restoreOf(spec: Partial<Restore["spec"]>, status?: Partial<Restore["status"]>): Stored<Restore> {
  const source = { archive: { store: "vault" } };
  const made = Restore({ name: "noon", spec: { instance: reference, source, newInstance: { name: "copy" }, ...spec } });
  const metadata = { ...made.metadata, namespace: "default", uid };
  return { ...made, metadata, ...(status === undefined ? {} : { status }) } as Stored<Restore>;
}

function seen(restore: Stored<Restore>, facts: Partial<SeenRestore> = {}): SeenRestore {
  return {
    ...{ restore, nowMs: 0, inPhaseMs: 0, image: "operator", backup: undefined, store, storeRefusal: undefined },
    ...{ archive: "store/default/orders/u1", replayRefusal: undefined, refusal: undefined, original: undefined },
    ...{ target: undefined, versionRefusal: () => undefined, safetyBackup: undefined, transfer: { state: "missing" } },
    ...{ pods: [], spentPods: [], claim: undefined, ahead: undefined },
    ...facts,
  };
}

test.each<[string, Partial<Restore["spec"]>, EngineControl<KubeObject>, string | undefined]>([
  ["a whole backup", { source: { backup: "first" } }, bare, undefined],
  ["a target of an engine without a log", { target: { time: "2026-01-31T12:00:00Z" } }, bare, "whole backups only"],
  ["an archive of an engine without a log", {}, bare, "this engine has no archive"],
  [
    "a target without the log that leads there",
    { target: { name: "noon" } },
    { ...bare, target },
    "whole backups only",
  ],
  ["the end of an archive", {}, able, undefined],
  ["a time", { target: { time: "2026-01-31T12:00:00Z" } }, able, undefined],
  ["a position in another form", { target: { position: "0/12" } }, able, "no position"],
  [
    "a target of a kind that the engine has not",
    { target: { transaction: "7" } },
    able,
    "use one of time, position, name",
  ],
])("%s is refused or not before anything begins", (_, spec, engine, refusal) => {
  const restore = restoreOf(spec);
  const found = replayRefusal(restore, engine);
  if (refusal === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(refusal);
  const { status } = decideRestore(seen(restore, { replayRefusal: found }));
  const isBackupMissing = spec.source?.backup !== undefined;
  expect(status.phase).toBe(refusal === undefined ? (isBackupMissing ? "Pending" : "Verifying") : "Failed");
});

test("the archive is beside the stored backup, or below the UID of the instance", () => {
  const stored = restoreOf({ source: { backup: "first" } });
  expect(archiveFolder(stored, "store/default/orders/u1/b1", "u2")).toBe("store/default/orders/u1");
  expect(archiveFolder(restoreOf({}), undefined, "u2")).toBe("store/default/orders/u2");
  const named = restoreOf({ source: { archive: { store: "vault", instanceUID: "u3" } } });
  expect(archiveFolder(named, undefined, "u2")).toBe("store/default/orders/u3");
});

test("an archive of nobody knows which instance is waited for", () => {
  const { status } = decideRestore(seen(restoreOf({}), { archive: undefined }));
  expect(status).toMatchObject({ phase: "Pending" });
  expect(status.waitingFor).toContain("set spec.source.archive.instanceUID");
});

test("the way that was verified is the one that is fetched, from the same backup along the same timeline", () => {
  const spec = { target: { time: "2026-01-31T12:00:00Z" } };
  const verify = restoreOf(spec, { phase: "Verifying", archive: "store/default/orders/u1" });
  expect(verifyRequest("store", verify, store)).toMatchObject({
    task: "verifyWay",
    folder: "store/default/orders/u1",
    target: { kind: "time", value: "2026-01-31T12:00:00Z" },
  });
  expect(verifyRequest("store", verify, store)).not.toHaveProperty("base");
  const done = { outcome: "done" as const, way };
  const { status } = decideRestore(seen(verify, { transfer: { state: "ended", uid: "p", result: done } }));
  expect(status).toMatchObject({ phase: "Preparing", object: way.object, way, takenAt: "2026-01-31T12:00:00Z" });
  expect(fetchRequest("store", { ...verify, status }, store, { files: { stop: "here" }, args: [] })).toMatchObject({
    ...{ task: "fetchWay", base: way.object, timeline: 1, files: { stop: "here" } },
  });
});

test("a transfer that names no way is not followed by a restore of the backup alone", () => {
  const verify = restoreOf({}, { phase: "Verifying", archive: "store/default/orders/u1" });
  const transfer = { state: "ended", uid: "p", result: { outcome: "done" } } as const;
  expect(decideRestore(seen(verify, { transfer })).status.phase).toBe("Failed");
});
