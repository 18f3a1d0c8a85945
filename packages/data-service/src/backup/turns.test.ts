/** Whose turn it is, for Backups and Restores. */
import type { KubeObject, Stored } from "setpoint";
import { expect, test } from "vitest";
import { Backup } from "../kinds/backup.ts";
import { Restore } from "../kinds/restore.ts";
import { restoreAhead } from "../restore/turns.ts";
import { backupAhead } from "./turns.ts";

const instance = { apiGroup: "examples.setpoint.dev", kind: "Store", name: "orders" };

function stored<T extends KubeObject>(object: T, name: string, status: object): Stored<T> {
  const place = {
    namespace: "default",
    uid: name,
    resourceVersion: "1",
    creationTimestamp: `2026-01-01T00:00:0${name}Z`,
  };
  return { ...object, metadata: { ...object.metadata, ...place }, status } as Stored<T>;
}

type Phase = NonNullable<Backup["status"]>["phase"];
type RestorePhase = NonNullable<Restore["status"]>["phase"];

function backup(name: string, phase: Phase, waitingFor?: string, spec: object = {}): Stored<Backup> {
  return stored(Backup({ name, spec: { instance, store: "s3", ...spec } }), name, { phase, waitingFor });
}

function restore(name: string, phase: RestorePhase, waitingFor?: string): Stored<Restore> {
  const spec = { instance, source: { backup: "first" }, inPlace: {} };
  return stored(Restore({ name, spec }), name, { phase, waitingFor });
}

test("of all that can begin or go on, exactly one has its turn", () => {
  const states: readonly [Phase, string?][] = [
    ["Pending"],
    ["Pending", "its store"],
    ["Running"],
    ["Running", "its pod"],
  ];
  for (const a of states)
    for (const b of states)
      for (const c of states) {
        const all = [backup("1", ...a), backup("2", ...b), backup("3", ...c)];
        const able = all.filter(({ status }) => status?.waitingFor === undefined);
        const turns = able.filter((each) => backupAhead(each, all) === undefined);
        expect([turns.length, all.map(({ status }) => status)]).toEqual([Math.min(able.length, 1), expect.anything()]);
      }
});

test("of all restores that can begin or go on, exactly one has its turn", () => {
  const states: readonly [RestorePhase, string?][] = [["Pending"], ["Pending", "its Backup"], ["SavingPresent"]];
  for (const a of states)
    for (const b of states)
      for (const c of states) {
        const all = [restore("1", ...a), restore("2", ...b), restore("3", ...c)];
        const able = all.filter(({ status }) => status?.waitingFor === undefined);
        const turns = able.filter((each) => restoreAhead(each, all) === undefined);
        expect([turns.length, all.map(({ status }) => status)]).toEqual([Math.min(able.length, 1), expect.anything()]);
      }
});

test("a restore that has stopped members goes before an older one that has not", () => {
  const all = [restore("1", "SavingPresent"), restore("2", "Stopping"), restore("3", "Pending")];
  expect(all.map((each) => restoreAhead(each, all)?.metadata.name)).toEqual(["2", undefined, "2"]);
});

test("a backup of an instance that no operator runs blocks none of the instance of its name", () => {
  const external = { external: { endpoints: ["https://db.example:2379"] } };
  expect(backupAhead(backup("2", "Pending"), [backup("1", "Pending", undefined, external)])).toBeUndefined();
});
