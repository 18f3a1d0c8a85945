import { expect, test } from "vitest";
import { world } from "./reflector.fixture.ts";
import { complete, error, nothing, type Script } from "./scripted-server.fixture.ts";

const tooLarge = error(504, "Timeout", { causes: [{ reason: "ResourceVersionTooLarge", message: "" }] });

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

test("a restored cluster is believed after a minute, and then relisted at once without a revision", async () => {
  const back: Script = { list: [], at: 40 };
  const lost = Array.from({ length: 20 }, (): Script[] => [[tooLarge], back]).flat();
  const { asked, clock, metrics, reflector, told } = world([[complete(100), "cut"], ...lost]);
  await clock.run(50_000);
  expect([told.includes("restored"), reflector.isDoubtful]).toEqual([false, true]);
  await clock.run(150_000, () => told.includes("restored"));
  expect([told.includes("restored"), reflector.isDoubtful]).toEqual([true, false]);
  expect(metrics.expose()).toContain('setpoint_cache_restores_total{kind="boxes"} 1');
  const before = asked.length;
  await clock.run(375);
  expect(asked.slice(before).map((each) => each.split(" ")[1])).toEqual(["watchList"]);
});

test("a list that is older than what was seen is refused, also where it comes parsed", async () => {
  const expired: Script = [error(410, "Expired")];
  const { clock, told } = world([{ list: [], at: 30 }, expired, { list: [], at: 20 }, { list: [], at: 31 }], {
    sync: "list",
  });
  await clock.run(3_000);
  expect(told).toEqual(["replace ", "progress 30", "replace ", "progress 31"]);
});
