import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { startMs, world } from "./reflector.fixture.ts";
import { box, error, frame, complete, refused } from "./scripted-server.fixture.ts";

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

test("what was read of a list that breaks is given up, and the list comes as a stream from then on", async () => {
  const { clock, told, ways } = world(
    [{ list: [box("a", 3)], at: 9, ends: "cut" }, [frame("ADDED", box("b", 3)), "cut"], [complete(9)]],
    { isRaw: true },
  );
  await clock.run(3_000);
  expect(ways()).toEqual(["list", "watchList", "watchList"]);
  expect(told).toEqual(["discard a", "discard b", "commit ", "progress 9"]);
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

test("a list that breaks before its first object is tried again as it is, also when an earlier one came whole", async () => {
  const whole = { list: [box("a", 3)], at: 9 };
  const { clock, ways } = world([whole, [error(410, "Expired")], { ...whole, list: [], ends: "cut" }, whole], {
    isRaw: true,
  });
  await clock.run(2_000);
  expect(ways()).toEqual(["list", "watch@9", "list", "list", "watch@9"]);
});

test("a server is not silent while a long list comes from it", async () => {
  const { clock, reflector, told } = world([{ list: [box("a", 3)], at: 9, ends: "late" }], { isRaw: true });
  await clock.run(400);
  expect([reflector.silentForMs(), told]).toEqual([400, []]);
  await clock.run(800);
  expect([reflector.silentForMs(), told]).toEqual([200, ["commit a,late", "progress 9"]]);
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

test("a reflector that is stopped when its list is shown opens no watch any more", async () => {
  const made = world([{ list: [], at: 9 }], { sync: "list", whenShown: () => made.stop() });
  await made.clock.settle();
  expect([made.ways(), made.isOver()]).toEqual([["list"], true]);
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
