import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import {
  bookmark,
  box,
  complete,
  error,
  frame,
  refused,
  startMs,
  world,
  type Script,
  type Step,
} from "./reflector.fixture.ts";

const modified = (name: string, revision: number) => frame("MODIFIED", box(name, revision));
const tooLarge = error(504, "Timeout", { causes: [{ reason: "ResourceVersionTooLarge", message: "" }] });
const nothing: Script = ["cut"];

test("a server whose streams break is asked more and more seldom, and from the fourth time on a person hears of it", async () => {
  const { asked, clock, lines, metrics } = world(Array.from({ length: 20 }, () => nothing));
  await clock.run(50_000);
  const expected = [0, 375, 1_125, 2_625, 5_625, 11_625, 23_625, 46_125].map((ms) => `${ms} watchList`);
  expect(asked).toEqual(expected);
  expect(lines.map(({ level }) => level)).toEqual(["debug", "debug", "debug", "warn", "warn", "warn", "warn", "warn"]);
  expect(metrics.expose()).toContain('setpoint_watch_breaks_total{kind="boxes"} 8');
});

test.each([
  ["has told something", [complete(5), modified("a", 6)] satisfies Step[], 0],
  ["has lived for ten seconds", [complete(5), 10_000] satisfies Step[], 10_000],
])("after a stream that %s the waits begin anew", async (_, steps, lastsMs) => {
  const cut = world([nothing, nothing, nothing, [...steps, "cut"], nothing]);
  await cut.clock.run(20_000);
  expect(cut.asked.slice(3, 6).map((each) => Number.parseFloat(each))).toEqual(
    [0, lastsMs + 375, lastsMs + 1_125].map((ms) => 2_625 + ms),
  );
  const ended = world([nothing, nothing, nothing, [...steps, "end"], nothing]);
  await ended.clock.run(20_000);
  const resumedMs = 2_625 + lastsMs + (lastsMs === 0 ? 37.5 : 0);
  expect(ended.asked.slice(4, 6).map((each) => Number.parseFloat(each))).toEqual([resumedMs, resumedMs + 375]);
});

test("a stream that was short and told nothing is no healthy one", async () => {
  const { asked, clock } = world([nothing, [complete(5), 9_999, "cut"], nothing]);
  await clock.run(13_000);
  expect(asked).toEqual(["0 watchList", "375 watchList", "11124 watch@5", "12624 watch@5"]);
});

test("a new list is not begun within five seconds of the last one, and the stream after it is resumed as usual", async () => {
  const { asked, clock, reflector } = world([[complete(5)], [complete(7), 1_000, modified("a", 8), "end"]]);
  await clock.run(4_999);
  reflector.refresh();
  await clock.run(1);
  expect(asked).toHaveLength(1);
  reflector.refresh();
  await clock.run(2_000);
  expect(asked).toEqual(["0 watchList", "5000 watchList@5", "6037.5 watch@8"]);
});

test("what comes from a stream that was given up is not told", async () => {
  for (const isRaw of [false, true]) {
    const begin: Script = [complete(5), 6_000, modified("a", 6), modified("b", 7)];
    const { clock, reflector, told } = world([begin, [complete(9)]], { isRaw, sync: "watchList" });
    await clock.run(5_500);
    reflector.refresh();
    await clock.run(1_000);
    expect(told.filter((each) => each.startsWith("set"))).toEqual([]);
  }
});

test("a reflector that is stopped ends, says nothing and leaves no listener behind", async () => {
  const { clock, lines, listeners, isOver, metrics, signals, stop } = world([
    ...[nothing, [complete(5), error(410, "Expired")], nothing],
    [complete(6)],
  ]);
  await clock.run(60_000);
  expect([listeners(), signals.map((signal) => signal?.aborted)]).toEqual([1, [true, true, true, false]]);
  const said = lines.length;
  stop();
  await clock.settle();
  expect([isOver(), listeners(), lines.length - said]).toEqual([true, 0, 0]);
  expect(metrics.expose()).toContain('setpoint_watch_breaks_total{kind="boxes"} 3');
});

test("lists come in pages of 500 where pages are asked for, else whole, and each object with its type", async () => {
  const Crate = createKind<KubeObject>({
    ...{ group: "example.com", version: "v2" },
    kind: "Crate",
    plural: "crates",
    namespaced: true,
  });
  const items = [
    box("none", 1),
    { kind: "Other", ...box("kind", 1) },
    { apiVersion: "other/v1", ...box("version", 1) },
  ];
  const own = { apiVersion: "own/v1", kind: "Own", ...box("both", 1) };
  for (const [kind, apiVersion] of [
    [undefined, "v1"],
    [Crate, "example.com/v2"],
  ] as const) {
    const made = world([{ list: [...items, own], at: 9 }], { sync: "list", ...(kind === undefined ? {} : { kind }) });
    await made.clock.settle();
    expect(made.ways()).toEqual(["list", "watch@9"]);
    const type = `${apiVersion} ${kind === undefined ? "Box" : "Crate"}`;
    expect(made.shown.map((each) => `${each.apiVersion} ${each.kind}`)).toEqual([type, type, type, "own/v1 Own"]);
  }
  const paged = world([{ list: items, at: 9 }], { sync: "pages" });
  await paged.clock.settle();
  expect(paged.requests[0]?.query?.["limit"]).toBe("500");
});

test("a watch asks for five to ten minutes", async () => {
  for (const [chance, seconds] of [
    [0, "300"],
    [0.5, "450"],
  ] as const) {
    const { clock, requests } = world([], {}, chance);
    await clock.settle();
    expect(requests[0]?.query?.["timeoutSeconds"]).toBe(seconds);
  }
});

test("a server is asked for its newest revision when two lists in a row have come to nothing, once something was seen", async () => {
  const { clock, ways } = world([
    [complete(100), error(410, "Expired")],
    ...[nothing, nothing, { list: [], at: 100 }, nothing],
  ]);
  await clock.run(4_000);
  expect(ways().slice(0, 5)).toEqual(["watchList", "watchList@100", "watchList@100", "newest", "watchList@100"]);
  const fresh = world([nothing, nothing, nothing, nothing]);
  await fresh.clock.run(5_000);
  expect(new Set(fresh.ways())).toEqual(new Set(["watchList"]));
});

test("a server that does not know the revision yet is asked for its newest one; other delays say nothing", async () => {
  const lagging = world([[complete(100), tooLarge], { list: [], at: 100 }, []]);
  await lagging.clock.run(1_000);
  expect(lagging.ways()).toEqual(["watchList", "newest", "watch@100"]);
  const slow = error(504, "Timeout", { causes: [{ reason: "Other", message: "" }] });
  const other = world([[complete(100), slow]]);
  await other.clock.run(1_000);
  expect(other.ways()).toEqual(["watchList", "watch@100"]);
  const empty = world([[tooLarge]]);
  await empty.clock.run(1_000);
  expect(empty.ways()).toEqual(["watchList", "watchList"]);
});

test("a cluster that has gone back in time is believed after a minute, and begun anew at once from nothing", async () => {
  const back: Script = { list: [], at: 40 };
  const lost = Array.from({ length: 20 }, (): Script[] => [[tooLarge], back]).flat();
  const { asked, clock, metrics, reflector, told } = world([[complete(100), "cut"], ...lost]);
  await clock.run(50_000);
  expect([told.includes("restored"), reflector.isDoubtful]).toEqual([false, true]);
  await clock.run(150_000, () => told.includes("restored"));
  expect([told.includes("restored"), reflector.isDoubtful]).toEqual([true, false]);
  expect(metrics.expose()).toContain('setpoint_cache_restores_total{kind="boxes"} 1');
  const anew = asked.length;
  await clock.run(375);
  expect(asked.slice(anew).map((each) => each.split(" ")[1])).toEqual(["watchList"]);
});

test("a list that is older than what was seen is refused, also where it comes parsed", async () => {
  const expired: Script = [error(410, "Expired")];
  const { clock, told } = world([{ list: [], at: 30 }, expired, { list: [], at: 20 }, { list: [], at: 31 }], {
    sync: "list",
  });
  await clock.run(3_000);
  expect(told).toEqual(["replace ", "progress 30", "replace ", "progress 31"]);
});

test("a server that fills its caches is waited for as it asks, and that is said once until it has answered", async () => {
  const busy = (details?: object): Script => [error(429, "TooManyRequests", details)];
  const { asked, clock, lines } = world([
    [complete(5), modified("a", 6), error(429, "TooManyRequests", { retryAfterSeconds: 3 })],
    busy(),
    [modified("a", 7), error(429, "TooManyRequests")],
  ]);
  await clock.run(20_000);
  expect(asked).toEqual(["0 watchList", "3375 watch@6", "4500 watch@6", "5625 watch@7"]);
  expect(lines.map(({ level, atMs }) => `${level} ${atMs - startMs}`)).toEqual(["info 0", "info 4500"]);
});

test("a kind that is not served any more is listed anew when it comes, and asked for every ten seconds at last", async () => {
  const gone = Array.from({ length: 20 }, () => refused(404, "NotFound"));
  const { asked, clock, lines } = world([{ list: [], at: 5 }, [error(404, "NotFound")], ...gone], { sync: "list" });
  await clock.run(45_000);
  const times = [562.5, 1_687.5, 3_937.5, 8_437.5, 17_437.5, 28_687.5, 39_937.5];
  expect(asked).toEqual(["0 list", "0 watch@5", ...times.map((ms) => `${ms} list`)]);
  expect(lines.filter(({ level }) => level === "info")).toEqual([]);
});

test("a server that ignores the wish for present objects is listed in pages after 150 s of silence", async () => {
  const { asked, clock, lines } = world([[]]);
  await clock.run(152_000);
  expect(asked.slice(0, 2)).toEqual(["0 watchList", "150375 page"]);
  expect(String(lines[0]?.fields["error"])).toContain("the watch was silent for 150 s");
});

test("each word on a stream keeps it for another 150 s", async () => {
  const { asked, clock } = world([[complete(5), 149_000, bookmark(6), 149_000, bookmark(6), 149_000, bookmark(7)]]);
  await clock.run(500_000);
  expect(asked).toHaveLength(1);
});

test("two silent streams in a row lead to a list, which makes the next silence the first again", async () => {
  const quiet: Script = ["ends when it is stopped"];
  const parsed = world([[complete(5)], quiet, [complete(5)], quiet, [modified("a", 6)], quiet]);
  await parsed.clock.run(800_000);
  expect(parsed.ways().slice(0, 4)).toEqual(["watchList", "watch@5", "watchList@5", "watch@5"]);
  const raw = world([{ list: [], at: 5 }, quiet, quiet, { list: [], at: 5 }, quiet, quiet], { isRaw: true });
  await raw.clock.run(600_000);
  expect(raw.ways().slice(0, 6)).toEqual(["list", "watch@5", "watch@5", "list", "watch@5", "watch@5"]);
  const telling = world([[complete(5)], [bookmark(6)], [bookmark(7)]]);
  await telling.clock.run(700_000);
  expect(telling.ways().slice(0, 3)).toEqual(["watchList", "watch@5", "watch@6"]);
});

test("a stream that was cut does not count as silent later on", async () => {
  const { clock, ways } = world([[complete(5), "cut"], []]);
  await clock.run(160_000);
  expect(ways()).toEqual(["watchList", "watch@5", "watch@5"]);
});

test("a bookmark of an older revision leads to a list, at most once a minute; a change of one is only left out", async () => {
  const begin: Script = [
    complete(100),
    59_999,
    bookmark(90),
    10_000,
    modified("a", 90),
    1_000,
    bookmark(100),
    9_000,
    bookmark(95),
  ];
  const { asked, clock, told } = world([begin, [complete(101), 60_000, bookmark(95)], [complete(102)]]);
  await clock.run(200_000);
  expect(asked.slice(0, 3)).toEqual(["0 watchList", "79999 watchList@100", "139999 watchList@101"]);
  expect(told.filter((each) => each.startsWith("set"))).toEqual([]);
});

test("what comes with the revision that was seen last is told: a bookmark says that nothing is missing", async () => {
  const { clock, told } = world([[complete(5), modified("a", 6), modified("b", 6), bookmark(6)]]);
  await clock.settle();
  expect(told).toEqual(["replace ", "progress 5", "set a@6", "progress 6", "set b@6", "progress 6", "progress 6"]);
});

test("what was read of a list that breaks is given up, and the list comes as a stream from then on", async () => {
  const { clock, told, ways } = world(
    [{ list: [box("a", 3)], at: 9, ends: "cut" }, [frame("ADDED", box("b", 3)), "cut"], [complete(9)]],
    { isRaw: true },
  );
  await clock.run(3_000);
  expect(ways()).toEqual(["list", "watchList", "watchList"]);
  expect(told).toEqual(["discard a", "discard b", "commit ", "progress 9"]);
});

test.each([
  [400, "BadRequest", "watchList"],
  [403, "Forbidden", "list"],
  [503, "ServiceUnavailable", "list"],
] as const)("a list that is refused with %i %s is tried as a %s next", async (code, reason, way) => {
  const { clock, ways } = world(
    Array.from({ length: 40 }, () => refused(code, reason)),
    { isRaw: true },
  );
  await clock.run(20_000);
  expect(ways().at(code === 503 ? -1 : 1)).toBe(way);
});

test.each([
  [400, "BadRequest", "page"],
  [422, "Invalid", "page"],
  [403, "Forbidden", "watchList"],
  [500, "InternalError", "watchList"],
] as const)("a streaming list that ends with %i %s is tried as a %s next", async (code, reason, way) => {
  const { clock, ways } = world([[error(code, reason)], []]);
  await clock.run(1_000);
  expect(ways()[1]).toBe(way);
});

test("a list that is on its way when the reflector is stopped is read no further", async () => {
  const { clock, isOver, stop, told } = world([{ list: [box("a", 3)], at: 9, ends: "late" }], { isRaw: true });
  await clock.run(500);
  stop();
  await clock.run(1_000);
  expect([isOver(), told]).toEqual([true, ["discard a"]]);
});

test("a long list of bytes is read in slices, between which others have their turn", async () => {
  let turns = 0;
  let nowMs = startMs;
  const list = Array.from({ length: 320 }, (_, i) => box(`box-${i}`, 3));
  const { clock, told } = world([{ list, at: 9 }], {
    isRaw: true,
    clock: (inner) => ({
      now: () => inner.now(),
      monotonic: () => nowMs++,
      setTimer: (callback, delayMs) => inner.setTimer(callback, delayMs),
      defer(callback) {
        turns++;
        inner.defer(callback);
      },
    }),
  });
  await clock.settle();
  expect(told.at(-1)).toBe("progress 9");
  expect(turns).toBeGreaterThan(0);
});

test("a list that breaks before its first object is tried again as it is", async () => {
  const { clock, ways } = world(
    [
      { list: [], at: 9, ends: "cut" },
      { list: [], at: 9 },
    ],
    { isRaw: true },
  );
  await clock.run(1_000);
  expect(ways()).toEqual(["list", "list", "watch@9"]);
});

test("what a person has to do is said once, however often it is met, and that it is done too", async () => {
  const forbidden = refused(403, "Forbidden");
  const broken: Script = { list: [], at: 9, ends: "cut" };
  const { clock, lines, reflector } = world([forbidden, broken, forbidden, { list: [], at: 9 }], { isRaw: true });
  await clock.run(2_000);
  expect(reflector.problem).toContain("Cannot list boxes in all namespaces");
  await clock.run(10_000);
  expect(reflector.problem).toBeUndefined();
  const said = lines.filter(({ level }) => level === "error" || level === "info").map(({ message }) => message);
  expect(said).toEqual(["Cannot fill a cache", "Can fill a cache again"]);
});

test("how long a server has been silent counts from its last word, and is not known before its first", async () => {
  const { clock, reflector } = world([[1_000, complete(5)]]);
  await clock.settle();
  expect(reflector.silentForMs()).toBeUndefined();
  await clock.run(5_000);
  expect(reflector.silentForMs()).toBe(4_000);
});

test("a reflector that is stopped when its list is shown opens no watch any more", async () => {
  const made = world([{ list: [], at: 9 }], { sync: "list", whenShown: () => made.stop() });
  await made.clock.settle();
  expect([made.ways(), made.isOver()]).toEqual([["list"], true]);
});

test("a cache that is not filled from bytes says so too when it can be filled again", async () => {
  const { clock, lines, reflector } = world([refused(403, "Forbidden"), [complete(5)]]);
  await clock.run(2_000);
  expect(reflector.problem).toBeUndefined();
  expect(lines.at(-1)?.message).toBe("Can fill a cache again");
});
