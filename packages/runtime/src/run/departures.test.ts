import { silentLogger } from "@setpoint/host";
import { expect, test } from "vitest";
import { Departures } from "./departures.ts";
import { ReconcileMemory } from "../writes/write-memory.ts";

const key = "default/lolly";

/** A controller that remembers a write for each of these objects. */
function remembering(...uids: readonly string[]) {
  const memory = new ReconcileMemory();
  for (const uid of uids) memory.remember(uid, "configmaps/mint", "wanted", "there");
  const departures = new Departures({
    ...{ memory, log: silentLogger, events: { record: () => {} } },
    definition: { name: "candy", finalizer: "example.com/candy" },
  });
  return { departures, remembered: () => uids.filter((uid) => memory.countOf(uid) > 0) };
}

test("an object that went away is forgotten when its key runs, and its namesake is not", () => {
  const { departures, remembered } = remembering("first", "second");
  departures.gone(key, "first");
  expect(departures.has(key)).toBe(true);
  departures.forget(key);
  expect(departures.has(key)).toBe(false);
  expect(remembered()).toEqual(["second"]);
});

test("of namesakes that come and go before the key runs, the one that it ran for is forgotten", () => {
  const { departures, remembered } = remembering("ran");
  for (const uid of ["ran", "never-ran", "nor-this"]) departures.gone(key, uid);
  departures.forget(key);
  expect(remembered()).toEqual([]);
});
