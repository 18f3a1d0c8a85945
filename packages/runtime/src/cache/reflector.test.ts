import { expect, test } from "vitest";
import { world } from "./reflector.fixture.ts";
import { bookmark, complete, error, modified, nothing, type Script } from "./scripted-server.fixture.ts";

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

test("an event at the last seen revision is passed on: a bookmark says that nothing is missing", async () => {
  const { clock, told } = world([[complete(5), modified("a", 6), modified("b", 6), bookmark(6)]]);
  await clock.settle();
  expect(told).toEqual(["replace ", "progress 5", "set a@6", "progress 6", "set b@6", "progress 6", "progress 6"]);
});

test("how long a server has been silent counts from its last word, and is not known before its first", async () => {
  const { clock, reflector } = world([[1_000, complete(5)]]);
  await clock.settle();
  expect(reflector.silentForMs()).toBeUndefined();
  await clock.run(5_000);
  expect(reflector.silentForMs()).toBe(4_000);
});
