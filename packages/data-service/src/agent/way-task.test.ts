/** Transfer pods that find, verify and fetch the way to a target. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppendLog, log } from "../archive/append-log.fixture.ts";
import { type ArchivedSegment, filePath, logAmong } from "../archive/archived-file.ts";
import { archiveSegment, type LogArchive } from "../archive/log-archive.ts";
import { type EngineAgent, InvalidSnapshotError } from "../engine/agent.ts";
import { storedFolder } from "../kinds/instance.ts";
import { AgentSetting, impatient } from "./agent-setting.fixture.ts";
import { openLogArchive } from "./log-access.ts";
import { archiveVariable } from "./request.ts";
import { openStorage } from "../storage/opendal-storage.ts";

const { signal } = new AbortController();
const minute = (count: number): string => new Date(count * 60_000).toISOString();
const folder = storedFolder({ kind: "Store", name: "orders" }, "default", "u1");
const object = `${folder}/b1`;

/** A snapshot is the entries as JSON. */
function engineOf(store: AppendLog): EngineAgent {
  return {
    log,
    async snapshot() {
      const count = store.entries.length;
      const position = String(count);
      async function* pieces(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(JSON.stringify(store.entries));
      }
      const endedAtMs = store.entries.at(-1)?.atMs ?? 0;
      const facts = { engineVersion: "1", position, log: { timeline: store.timeline, start: position, endedAtMs } };
      return { data: pieces(), facts: Promise.resolve(facts) };
    },
    async verify(stream) {
      const text = Buffer.concat(await Array.fromAsync(stream));
      if (text.at(-1) !== 93) throw new InvalidSnapshotError("It is cut off");
      return { dataBytes: text.length };
    },
  };
}

/** Six entries in a backup, and twenty in the archive, four in a segment. */
class Stage implements Disposable {
  readonly setting = new AgentSetting();
  readonly store = new AppendLog();

  static async open(isEncrypted: boolean): Promise<Stage> {
    const stage = new Stage();
    const { setting, store } = stage;
    setting.engines = { sample: engineOf(store) };
    if (isEncrypted) setting.encrypt("first", randomBytes(32));
    store.append(...Array.from({ length: 6 }, (_, at) => `entry ${at}`));
    const { result } = await setting.run({ task: "backup", object });
    expect(result).toMatchObject({ outcome: "done", backup: { log: { timeline: 1, start: "6" } } });
    store.append(...Array.from({ length: 14 }, (_, at) => (at === 6 ? "mark noon" : `entry ${at + 6}`)));
    for (const [name, bytes] of store.fullSegments()) await archiveSegment(stage.archive(), name, bytes, signal);
    return stage;
  }

  /** As the server of the engine opens it. */
  archive(): LogArchive {
    const { activeKey, paths, store } = this.setting;
    const place = { place: { type: "folder", folder: store }, prefix: "" };
    const access = { folder, store: { ...place, ...(activeKey === undefined ? {} : { activeKey }) } };
    const archive = openLogArchive(log, { [archiveVariable]: JSON.stringify(access) }, paths);
    if (archive === undefined) throw new Error("The variable was not understood");
    return { ...archive, storage: openStorage({ type: "folder", folder: store }, "", paths.storeSecret, impatient) };
  }

  pathOf(name: string): string {
    const segment = logAmong(this.setting.files(), folder).segments.find((each) => each.name === name);
    return filePath(folder, segment as ArchivedSegment);
  }

  fetchedLog(): readonly string[] {
    const path = join(this.setting.paths.replayFolder, "log");
    return existsSync(path) ? readdirSync(path).toSorted() : [];
  }

  [Symbol.dispose](): void {
    this.setting[Symbol.dispose]();
  }
}

const way = (kind: "time" | "position" | "name", value: string) => ({
  ...{ task: "verifyWay" as const, folder, target: { kind, value } },
});

test.each([
  ["plain", false],
  ["encrypted", true],
])("the way in a %s store is verified, and fetched up to the target", async (_, isEncrypted) => {
  using stage = await Stage.open(isEncrypted);
  const { setting } = stage;
  const { result } = await setting.run(way("position", "15"));
  expect(result).toMatchObject({
    outcome: "done",
    backup: { position: "6" },
    way: { object, timeline: 1, segments: 4, end: "20", from: minute(5), to: minute(19) },
  });
  const files = { "recovery.json": "stop at 15" };
  await setting.run({ ...way("position", "15"), task: "fetchWay", base: object, timeline: 1, files });
  expect(JSON.parse(setting.fetched()?.toString() ?? "")).toHaveLength(6);
  expect(stage.fetchedLog()).toEqual(["1-000004", "1-000008", "1-000012", "1-000016"]);
  expect(readFileSync(join(setting.paths.replayFolder, "recovery.json"), "utf8")).toBe("stop at 15");
  const last = readFileSync(join(setting.paths.replayFolder, "log", "1-000012"), "utf8");
  expect(JSON.parse(last)).toEqual(stage.store.entries.slice(12, 16));
  const stored = setting.bytesOf(stage.pathOf("1-000012")).toString("latin1");
  expect(stored.includes("mark noon")).toBe(!isEncrypted);
});

test("segments far behind the target are left in the store", async () => {
  using stage = await Stage.open(false);
  const target = { kind: "time" as const, value: minute(7) };
  await stage.setting.run({ task: "fetchWay", folder, target, files: {} });
  expect(stage.fetchedLog()).toEqual(["1-000004", "1-000008"]);
});

test("a target behind a missing segment is refused with the window and the gap", async () => {
  using stage = await Stage.open(false);
  stage.setting.remove(stage.pathOf("1-000012"));
  const { result } = await stage.setting.run(way("position", "18"));
  expect(result).toMatchObject({ outcome: "failed", reason: "TargetUnreachable", retry: false });
  expect(result.outcome === "failed" && result.message).toMatch(
    /position "18" is outside of what can be restored: .*\(position 12\); the archive lacks 12 to 16 of timeline 1/,
  );
});

test("a target before the backup that the request names is refused", async () => {
  using stage = await Stage.open(false);
  const { result } = await stage.setting.run({ ...way("time", minute(3)), base: object });
  expect(result).toMatchObject({ outcome: "failed", reason: "TargetUnreachable" });
});

test("a mark that no segment has is refused before anything is fetched", async () => {
  using stage = await Stage.open(false);
  expect((await stage.setting.run(way("name", "noon"))).result).toMatchObject({ outcome: "done" });
  expect((await stage.setting.run(way("name", "midnight"))).result).toMatchObject({
    outcome: "failed",
    reason: "TargetUnreachable",
    message: 'Cannot restore to the target: no segment has the name "midnight".',
  });
});

test.each([
  ["plain", false],
  ["encrypted", true],
])("a changed byte of a segment in a %s store is found", async (_, isEncrypted) => {
  using stage = await Stage.open(isEncrypted);
  const path = stage.pathOf("1-000012");
  const bytes = stage.setting.bytesOf(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  stage.setting.put(path, bytes);
  const { result } = await stage.setting.run(way("position", "15"));
  expect(result).toMatchObject({ outcome: "failed", reason: "BackupDamaged" });
});

test("a segment whose name says other facts than its data is refused", async () => {
  using stage = await Stage.open(false);
  const { setting } = stage;
  const path = stage.pathOf("1-000012");
  const segment = logAmong(setting.files(), folder).segments.find(({ name }) => name === "1-000012");
  setting.put(filePath(folder, { ...(segment as ArchivedSegment), endedAtMs: 1 }), setting.bytesOf(path));
  setting.remove(path);
  const { result } = await setting.run(way("position", "15"));
  expect(result).toMatchObject({ outcome: "failed", reason: "BackupDamaged" });
  expect(result.outcome === "failed" && result.message).toContain("its name says something else");
});

test("an encrypted segment under the name of another one is found", async () => {
  using stage = await Stage.open(true);
  stage.setting.put(stage.pathOf("1-000012"), stage.setting.bytesOf(stage.pathOf("1-000008")));
  const { result } = await stage.setting.run(way("position", "15"));
  expect(result).toMatchObject({ outcome: "failed", reason: "BackupDamaged" });
});

test("an unencrypted segment in an encrypted store is refused", async () => {
  using stage = await Stage.open(true);
  const { setting } = stage;
  const { path, bytes } = { path: stage.pathOf("1-000012"), bytes: JSON.stringify(stage.store.entries.slice(12, 16)) };
  setting.remove(path);
  rmSync(join(setting.store, path, ".."), { recursive: true });
  const plain = { ...stage.archive(), activeKey: undefined };
  await archiveSegment(plain, "1-000012", Buffer.from(bytes), signal);
  const { result } = await setting.run(way("position", "15"));
  expect(result).toMatchObject({ outcome: "failed", reason: "BackupNotEncrypted" });
});

test("a segment that was written in part is written again when the engine repeats it", async () => {
  using stage = await Stage.open(false);
  const path = stage.pathOf("1-000012");
  const whole = stage.setting.bytesOf(path);
  stage.setting.put(path, whole.subarray(0, 10));
  expect(await archiveSegment(stage.archive(), "1-000012", whole, signal)).toBe("stored");
  expect(await archiveSegment(stage.archive(), "1-000012", whole, signal)).toBe("present");
  expect(stage.setting.bytesOf(path)).toEqual(whole);
});

test("a backup that does not say where its log goes on can be restored as a whole only", async () => {
  using stage = await Stage.open(false);
  const { setting } = stage;
  const manifest = JSON.parse(setting.bytesOf(`${object}.json`).toString());
  const { log: _log, ...backup } = manifest.backup;
  setting.put(`${object}.json`, Buffer.from(JSON.stringify({ ...manifest, backup })));
  expect((await setting.run({ task: "verify", object })).result).toMatchObject({ outcome: "done" });
  const { result } = await setting.run({ ...way("position", "15"), base: object });
  expect(result).toMatchObject({ outcome: "failed", reason: "TargetUnreachable" });
});
