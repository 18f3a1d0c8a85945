/** A server alone, with its store in memory: what it archives, and how restores replay it. */
import type { Replay } from "@setpoint/data-service";
import { expect, test } from "vitest";
import { appended, appendLogSegments, forked, type LogData, noData } from "./log-data.ts";
import { LogServer } from "./log-server.ts";
import { replayed } from "./replay.ts";

const { signal } = new AbortController();

/** The time is the number of entries. */
function logOf(count: number, data: LogData = noData, prefix = "a"): LogData {
  return data.entries.length >= count
    ? data
    : logOf(count, appended(data, data.entries.length, `${prefix}${data.entries.length}`), prefix);
}

/** A store whose files tests read. */
class Store {
  readonly files = new Map<string, Uint8Array>();
  isFailing = false;

  async archive(name: string, bytes: Uint8Array): Promise<void> {
    if (this.isFailing) throw new Error("the store is full");
    const present = this.files.get(name);
    if (present !== undefined && !Buffer.from(present).equals(bytes)) throw new Error(`${name} has other bytes`);
    this.files.set(name, bytes);
  }

  async list() {
    const segments = [...this.files].filter(([name]) => !name.endsWith(".fork"));
    return {
      segments: segments.map(([name, bytes]) => ({ name, sha256: "", ...appendLogSegments.read(name, bytes) })),
    };
  }

  report = async () => ({ gapCount: 0, ...(this.isFailing ? { failing: { since: "now", message: "full" } } : {}) });
}

function serverOf(data: LogData, store = new Store(), primary = data) {
  const copy = async (): Promise<LogData> => primary;
  const server = new LogServer({ load: () => data, save: () => {}, copy, archiver: store, clock: { now: () => 0 } });
  return { server, store };
}

test("a primary archives full segments, each once, also after a restart", async () => {
  const { server, store } = serverOf(logOf(10));
  server.promote(1);
  await server.work(signal);
  expect([...store.files.keys()]).toEqual(["1-000000", "1-000004"]);
  const again = serverOf(logOf(12), store).server;
  again.promote(1);
  await again.work(signal);
  expect([...store.files.keys()]).toEqual(["1-000000", "1-000004", "1-000008"]);
});

test("a segment that the store lost is not archived again, so that the gap stays visible", async () => {
  const { server, store } = serverOf(logOf(12));
  server.promote(1);
  await server.work(signal);
  store.files.delete("1-000004");
  const again = serverOf(logOf(16), store).server;
  again.promote(1);
  await again.work(signal);
  expect([...store.files.keys()]).toEqual(["1-000000", "1-000008", "1-000012"]);
});

test("a promoted replica says where its history begins, and repeats the end of the parent", async () => {
  const { server, store } = serverOf(logOf(6));
  server.follow("http://other");
  await server.work(signal);
  expect(server.report()).toMatchObject({ role: "replica", position: 6 });
  server.promote(2);
  for (const text of ["b6", "b7"]) server.append(text);
  await server.work(signal);
  expect([...store.files.keys()]).toEqual(["2.fork", "2-000004"]);
  expect(JSON.parse(String(store.files.get("2.fork")))).toEqual({ timeline: 2, parent: 1, at: "6" });
});

test("nobody but a primary accepts entries, and a demoted one does not", () => {
  const { server } = serverOf(noData);
  expect(() => server.append("x")).toThrow("this member is unknown: write to the primary");
  server.promote(1);
  server.append("x");
  server.follow("http://other");
  expect(() => server.append("x")).toThrow("write to the primary");
});

test("the same promotion twice begins one history", () => {
  const { server } = serverOf(logOf(3));
  server.promote(2);
  server.promote(2);
  expect(server.data.forks).toEqual([{ timeline: 2, parent: 1, at: "3" }]);
});

test("a store that fails is tried again, and the report says so meanwhile", async () => {
  const { server, store } = serverOf(logOf(4));
  server.promote(1);
  store.isFailing = true;
  await expect(server.work(signal)).rejects.toThrow("the store is full");
  expect(server.report().archive).toMatchObject({ failing: { message: "full" } });
  store.isFailing = false;
  await server.work(signal);
  expect([...store.files.keys()]).toEqual(["1-000000"]);
});

/** Twelve entries; from 6 on, a second history that has entries of its own. */
async function archived(): Promise<{ readonly files: Map<string, Uint8Array>; readonly second: LogData }> {
  const { server, store } = serverOf(logOf(12));
  server.promote(1);
  await server.work(signal);
  const marked = appended(forked(logOf(6), 2), 6, "noon", "noon");
  const second = logOf(12, marked, "b");
  const promoted = serverOf(second, store).server;
  promoted.promote(2);
  await promoted.work(signal);
  return { files: store.files, second };
}

test.each<[string, Replay, readonly string[]]>([
  ["its end", { target: undefined, timeline: 2, end: "12" }, ["a4", "a5", "noon", "b7", "b8", "b9", "b10", "b11"]],
  ["a position", { target: { kind: "position", value: "8" }, timeline: 2, end: "12" }, ["a4", "a5", "noon", "b7"]],
  ["a time", { target: { kind: "time", value: "1970-01-01T00:00:00.005Z" }, timeline: 2, end: "12" }, ["a4", "a5"]],
  ["a mark", { target: { kind: "name", value: "noon" }, timeline: 2, end: "12" }, ["a4", "a5", "noon"]],
  ["the old history", { target: { kind: "position", value: "8" }, timeline: 1, end: "12" }, ["a4", "a5", "a6", "a7"]],
])("a replay up to %s has exactly the entries up to it, on a new history", async (_, replay, tail) => {
  const { files } = await archived();
  const { entries, timeline, forks } = replayed(logOf(3), files, replay);
  expect(entries.map(({ text }) => text)).toEqual(["a0", "a1", "a2", "a3", ...tail]);
  expect(timeline).toBe(3);
  expect(forks.at(-1)).toEqual({ timeline: 3, parent: replay.timeline, at: String(entries.length) });
});

test("a replay that does not find the mark fails", async () => {
  const { files } = await archived();
  const target = { kind: "name", value: "midnight" } as const;
  expect(() => replayed(logOf(3), files, { target, timeline: 2, end: "12" })).toThrow('no mark "midnight"');
});
