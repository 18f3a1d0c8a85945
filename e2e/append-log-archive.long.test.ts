/**
 * Restores of a real server to a moment: its log is archived in a store, a lost segment is named, each kind
 * of target gives exactly the entries up to it, and a promotion does not interrupt the history.
 */
import { PersistentVolumeClaim } from "@setpoint/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppendLog } from "../operators/append-log/src/append-log.ts";
import { AppendLogStage } from "./append-log/stage.ts";

let stage: AppendLogStage;
beforeAll(async () => {
  stage = await AppendLogStage.open();
  await stage.create(AppendLog, AppendLog({ name: "orders", spec: { members: 2, store: "vault" } }));
  await stage.append("orders", "a0", "a1");
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const isArchived =
  (end: string, timeline: number) =>
  ({ archive }: NonNullable<AppendLog["status"]>) =>
    archive?.window?.end === end && archive.window.timeline === timeline;

test("a server archives its log, and each kind of target gives the entries up to it", async () => {
  const backup = await stage.backUp("first");
  expect(backup.status).toMatchObject({ position: "2" });
  await stage.append("orders", "a2", "a3", "a4", "mark noon", "a6", "a7", "a8", "a9", "a10", "a11");
  const { status } = await stage.serving("orders", isArchived("12", 1));
  expect(status?.archive).toMatchObject({ lastArchived: { name: "1-000008" } });
  const entries = await stage.entries("orders");
  const time = new Date(entries[6]?.atMs ?? 0).toISOString();
  const upToTime = entries.filter(({ atMs }) => atMs <= (entries[6]?.atMs ?? 0)).map(({ text }) => text);
  const targets = {
    "by-time": { time },
    "by-position": { position: "9" },
    "by-name": { name: "noon" },
    latest: undefined,
  };
  const all = entries.map(({ text }) => text);
  const expected = { "by-time": upToTime, "by-position": all.slice(0, 9), "by-name": all.slice(0, 6), latest: all };
  for (const [name, wanted] of Object.entries(expected)) {
    const restored = await stage.restore(name, targets[name as keyof typeof targets]);
    expect(restored.status, JSON.stringify(restored.status)).toMatchObject({ phase: "Succeeded" });
    expect((await stage.serving(name)).status?.timeline).toBe(2);
    expect(await stage.textsAtLast(name)).toEqual(wanted);
  }
  expect(await stage.texts("orders")).toEqual(all);
});

test("the archive follows a promotion, and a restore leads across it", async () => {
  const { status: before } = await stage.serving("orders", ({ members = [], position = 0 }) =>
    members.some((each) => each.role === "replica" && each.position === position && position >= 12),
  );
  await stage.append("orders", "a12", "a13");
  await stage.serving("orders", ({ members = [] }) => members.every(({ position }) => position === 14));
  const primary = before?.primary ?? "";
  await stage.kubectl.ok(`delete pod ${primary} --now`);
  const { status } = await stage.serving("orders", ({ timeline }) => timeline === 2);
  expect(status?.primary).not.toBe(primary);
  await stage.append("orders", "b14", "b15", "b16", "b17", "b18", "b19");
  await stage.serving("orders", isArchived("20", 2));
  const all = await stage.texts("orders");
  expect(all.slice(12, 15)).toEqual(["a12", "a13", "b14"]);
  const restored = await stage.restore("across", { position: "18" });
  expect(restored.status, JSON.stringify(restored.status)).toMatchObject({ phase: "Succeeded", way: { timeline: 2 } });
  expect(await stage.textsAtLast("across")).toEqual(all.slice(0, 18));
});

test("a target that the archive does not lead to is refused, and nothing is touched", async () => {
  const before = await stage.objects();
  const restored = await stage.restore("never", { position: "21" }, { inPlace: {} });
  expect(restored.status).toMatchObject({ phase: "Failed" });
  expect(restored.status?.message).toContain('position "21" is outside of what can be restored');
  const after = await stage.objects();
  // Instances of the tests before may still be on their way out.
  const ofOrders = (each: string): boolean => each.includes("orders");
  expect(after.filter(ofOrders)).toEqual(before.filter(ofOrders));
  const added = after.filter((each) => !before.includes(each));
  expect(added.map((each) => each.split(" ")[0])).toEqual(["never-restore-verify-1"]);
  const refused = await stage.restore("odd", { transaction: "7" });
  expect(refused.status?.message).toContain("use one of time, position, name");
});

test("a restore in place to a position goes back, and the archive goes on with a timeline of its own", async () => {
  const before = await stage.texts("orders");
  const restored = await stage.restore("back", { position: "15" }, { inPlace: {} });
  expect(restored.status, JSON.stringify(restored.status)).toMatchObject({ phase: "Succeeded" });
  expect(await stage.texts("orders")).toEqual(before.slice(0, 15));
  await stage.append("orders", "c15", "c16", "c17", "c18", "c19");
  await stage.serving("orders", isArchived("20", 3));
  const forward = await stage.restore("forward", { position: "19", timeline: 2 });
  expect(forward.status, JSON.stringify(forward.status)).toMatchObject({ phase: "Succeeded" });
  expect(await stage.textsAtLast("forward")).toEqual(before.slice(0, 19));
});

test("a lost segment is named in the status, ends the window, and refuses what is behind it", async () => {
  stage.loseSegment("3-000012");
  const { status } = await stage.until(
    AppendLog,
    "orders",
    ({ status: seen }) =>
      seen?.conditions?.some(({ type, status: is }) => type === "Archived" && is === "False") ?? false,
  );
  expect(status?.archive?.window?.end).toBe("15");
  const restored = await stage.restore("lost", { position: "18" });
  expect(restored.status).toMatchObject({ phase: "Failed" });
  expect(restored.status?.message).toContain("outside of what can be restored");
  expect(await stage.client.listAll(PersistentVolumeClaim, { namespace: "default" })).not.toMatchObject({
    items: [{ metadata: { name: "data-lost" } }],
  });
});
