import { expect, test } from "vitest";
import { startMs, world } from "./reflector.fixture.ts";
import { complete, error, modified, nothing, refused, type Script, type Step } from "./scripted-server.fixture.ts";

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
])("after a stream that %s the back-off starts again", async (_, steps, lastsMs) => {
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

test("the log says of a stream that ended whose it was, why it ended and where the next one begins", async () => {
  const { clock, lines } = world([nothing, [complete(5), "cut"], []]);
  await clock.run(2_000);
  const fields = { resource: "boxes", error: new Error("the connection broke") };
  expect(lines.map(({ message, fields: said }) => [message, said])).toEqual([
    ["Watch ended", { ...fields, resumeFrom: "" }],
    ["Watch ended", { ...fields, resumeFrom: "5" }],
  ]);
});

test("a server that fills its caches gets the delay it asks for, and one log line until it answers", async () => {
  const busy = (details?: object): Script => [error(429, "TooManyRequests", details)];
  const { asked, clock, lines } = world([
    [complete(5), modified("a", 6), error(429, "TooManyRequests", { retryAfterSeconds: 3 })],
    busy(),
    [modified("a", 7), error(429, "TooManyRequests")],
  ]);
  await clock.run(20_000);
  expect(asked).toEqual(["0 watchList", "3375 watch@6", "4500 watch@6", "5625 watch@7"]);
  const said = lines.map(({ level, atMs, fields }) => `${level} ${atMs - startMs} ${String(fields["resource"])}`);
  expect(said).toEqual(["info 0 boxes", "info 4500 boxes"]);
});

test("a kind that is no longer served is retried at last every ten seconds, and relisted when it is back", async () => {
  const gone = Array.from({ length: 20 }, () => refused(404, "NotFound"));
  const { asked, clock, lines } = world([{ list: [], at: 5 }, [error(404, "NotFound")], ...gone], { sync: "list" });
  await clock.run(45_000);
  const times = [562.5, 1_687.5, 3_937.5, 8_437.5, 17_437.5, 28_687.5, 39_937.5];
  expect(asked).toEqual(["0 list", "0 watch@5", ...times.map((ms) => `${ms} list`)]);
  expect(lines.filter(({ level }) => level === "info")).toEqual([]);
});
