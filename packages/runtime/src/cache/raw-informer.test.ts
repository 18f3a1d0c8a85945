import { expect, test } from "vitest";
import { startRaw } from "./informer.fixture.ts";
import { box, complete, error, frame, refused, type Script } from "./scripted-server.fixture.ts";

test("a kind is listed at once and watched from the list's revision", async () => {
  const { host, informer, log, ways, stop } = startRaw([
    { list: [box("a", 3), box("b", 4)], at: 9 },
    [frame("MODIFIED", box("a", 10)), frame("DELETED", box("b", 11)), frame("ADDED", box("c", 12))],
  ]);
  await host.clock.settle();
  expect(ways()).toEqual(["list", "watch@9"]);
  expect(log).toEqual(["add a@3", "add b@4", "3 to a@10", "delete b@4", "add c@12"]);
  expect([...informer.store.keys()]).toEqual(["default/a", "default/c"]);
  await stop();
});

test("of the first list each object is shown when it comes, and what the next attempt lacks goes", async () => {
  const { host, informer, log, ways, stop } = startRaw([
    { list: [box("a", 3), box("gone", 4)], at: 9, ends: "cut" },
    [frame("ADDED", box("a", 3)), "cut"],
    [frame("ADDED", box("a", 3)), frame("ADDED", box("b", 4)), complete(9)],
  ]);
  await host.clock.settle();
  expect([informer.isSynced, log]).toEqual([false, ["add a@3", "add gone@4"]]);
  await host.clock.run(5_000);
  // A list that does not come to its end may be too much for one answer.
  expect(ways()).toEqual(["list", "watchList", "watchList"]);
  expect(log.slice(2)).toEqual(["add b@4", "delete gone@4"]);
  expect(informer.isSynced).toBe(true);
  await stop();
});

test("nothing of a later list is shown before it is complete", async () => {
  const { host, informer, log, ways, stop } = startRaw([
    { list: [box("a", 3), box("b", 3)], at: 9 },
    [error(410, "Expired")],
    { list: [box("a", 12)], at: 20, ends: "late" },
  ]);
  await host.clock.settle();
  expect(log).toEqual(["add a@3", "add b@3"]);
  await host.clock.run(900);
  expect(ways()).toEqual(["list", "watch@9", "list"]);
  expect(informer.store.get("default/a")?.metadata.resourceVersion).toBe("3");
  await host.clock.run(5_000);
  expect(log.slice(2)).toEqual(["3 to a@12", "add late@1", "delete b@3"]);
  await stop();
});

test("nor is it shown in a cache that was found empty before", async () => {
  const { host, log, ways, stop } = startRaw([
    { list: [], at: 9 },
    [error(410, "Expired")],
    { list: [box("a", 12)], at: 20, ends: "late" },
  ]);
  await host.clock.run(900);
  expect([ways(), log]).toEqual([["list", "watch@9", "list"], []]);
  await host.clock.run(5_000);
  expect(log).toEqual(["add a@12", "add late@1"]);
  await stop();
});

test("a namesake is a stranger, and an older state that comes later in the first list is not shown", async () => {
  const { host, log, stop } = startRaw([
    { list: [box("a", 5), box("a", 3), box("b", 4)], at: 9 },
    [frame("MODIFIED", box("b", 10, { uid: "another" }))],
  ]);
  await host.clock.settle();
  expect(log).toEqual(["add a@5", "add b@4", "delete b@4", "add b@10"]);
  await stop();
});

test("a new list after a compaction tells what was missed and keeps what is as it was", async () => {
  const expired = error(410, "Expired");
  const { host, log, ways, stop } = startRaw([
    { list: [box("a", 3), box("b", 4), box("c", 5, { uid: "old" })], at: 9 },
    [expired],
    { list: [box("b", 4), box("c", 12, { uid: "new" }), box("d", 13)], at: 20 },
  ]);
  await host.clock.run(5_000);
  expect(ways()).toEqual(["list", "watch@9", "list", "watch@20"]);
  expect(log.slice(3)).toEqual(["delete c@5", "add c@12", "add d@13", "delete a@3"]);
  await stop();
});

test("a list that is older than what was seen is refused", async () => {
  const { host, informer, log, stop } = startRaw([
    { list: [box("a", 30)], at: 30 },
    [error(410, "Expired")],
    { list: [], at: 20 },
    { list: [], at: 31 },
  ]);
  await host.clock.run(900);
  expect(informer.store.has("default/a")).toBe(true);
  await host.clock.run(10_000);
  expect(log).toEqual(["add a@30", "delete a@30"]);
  await stop();
});

test("a server that fills its caches is waited for as it asks, and said to once", async () => {
  const busy: Script = refused(429, "TooManyRequests", { retryAfterSeconds: 1 });
  const { host, informer, ways, stop } = startRaw([
    ...Array.from({ length: 40 }, () => busy),
    { list: [box("a", 3)], at: 9 },
  ]);
  await host.clock.run(120_000);
  expect(informer.isSynced).toBe(true);
  expect(new Set(ways())).toEqual(new Set(["list", "watch@9"]));
  const lines = host.lines.filter(({ level }) => level !== "debug");
  expect(lines.map(({ message }) => message)).toEqual(["Waiting for the server's cache"]);
  await stop();
});

test("a kind that is not served is waited for quietly, and found when it comes", async () => {
  const { host, informer, requests, stop } = startRaw([
    ...Array.from({ length: 8 }, () => refused(404, "NotFound")),
    { list: [box("a", 3)], at: 9 },
  ]);
  await host.clock.run(60_000);
  expect(requests.length).toBeLessThan(12);
  await host.clock.run(60_000);
  expect(informer.store.size).toBe(1);
  expect(host.lines.filter(({ level }) => level === "warn")).toEqual([]);
  await stop();
});

test("pages are one list", async () => {
  const { host, log, ways, requests, stop } = startRaw(
    [
      { list: [box("a", 3)], at: 9, more: "token" },
      { list: [box("b", 4)], at: 9 },
    ],
    { sync: "pages" },
  );
  await host.clock.settle();
  expect(ways()).toEqual(["page", "page", "watch@9"]);
  expect(requests[1]?.query?.["continue"]).toBe("token");
  expect(log).toEqual(["add a@3", "add b@4"]);
  await stop();
});

test("streams that a busy server closes after a few changes are resumed at once, however often", async () => {
  const scripts = Array.from({ length: 20 }, (_, i): Script => [frame("MODIFIED", box("a", 10 + i)), "end"]);
  const { host, log, ways, stop } = startRaw([{ list: [box("a", 3)], at: 9 }, ...scripts]);
  await host.clock.run(1_500);
  expect(log.at(-1)).toBe("28 to a@29");
  expect(ways().filter((way) => way === "list").length).toBe(1);
  await stop();
});

test("streams that tell nothing are opened more and more seldom", async () => {
  const { host, requests, stop } = startRaw([
    { list: [], at: 9 },
    ...Array.from({ length: 100 }, (): Script => ["end"]),
  ]);
  await host.clock.run(60_000);
  expect(requests.length).toBeLessThan(12);
  await stop();
});

test("however many ask for a new list, one is enough", async () => {
  const { host, informer, ways, stop } = startRaw([{ list: [box("a", 3)], at: 9 }, [], { list: [], at: 12 }]);
  await host.clock.run(10_000);
  for (let i = 0; i < 100; i++) {
    informer.refresh();
    await host.clock.run(10);
  }
  expect(ways()).toEqual(["list", "watch@9", "list", "watch@12"]);
  expect(informer.store.size).toBe(0);
  await stop();
});

test("a cluster restored from a backup is relisted once it is certain, whatever the revisions say", async () => {
  const expired = error(410, "Expired");
  const gone = { list: [box("b", 40)], at: 100 };
  const { host, informer, log, ways, stop } = startRaw([
    { list: [box("a", 50), box("b", 200), box("c", 180)], at: 200 },
    [expired],
    ...[gone, gone, gone, gone, gone, gone, gone, gone],
    { list: [box("a", 50, { labels: { other: "yes" } }), box("b", 40)], at: 101 },
    [frame("MODIFIED", box("b", 102)), frame("MODIFIED", box("b", 103))],
  ]);
  const restored: string[] = [];
  informer.addHandler({
    onRestored: (_, { metadata }) => void restored.push(`${metadata.name} as it was`),
    onUpdate: (_, { metadata }) => void restored.push(`${metadata.name} changed`),
  });
  expect(informer.history).toBe(0);
  await host.clock.run(40_000);
  expect([...informer.store.keys()]).toEqual(["default/a", "default/b", "default/c"]);
  expect(informer.isDoubtful).toBe(true);
  expect(informer.problem).toContain("restored from a backup");
  await host.clock.run(120_000);
  expect(ways().filter((way) => way === "list").length).toBe(10);
  expect(informer.isDoubtful).toBe(false);
  expect(informer.problem).toBeUndefined();
  expect(log.slice(3)).toEqual(["50 to a@50", "200 to b@40", "delete c@180", "40 to b@102", "102 to b@103"]);
  expect(informer.history).toBe(1);
  expect(restored).toEqual(["a as it was", "b as it was", "b changed", "b changed"]);
  expect(informer.store.get("default/a")?.metadata.labels).toEqual({ other: "yes" });
  await stop();
});
