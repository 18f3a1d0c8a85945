/** A table: what a Restore asks for, what the status recorded, and the claim that the server runs on. */
import { expect, test } from "vitest";
import type { DataClaimStatus } from "./data-claim-status.ts";
import { decideDataClaim, type SeenDataClaim } from "./decide-data-claim.ts";

type State = NonNullable<SeenDataClaim["mark"]>["state"];

function decide(state: State | undefined, recorded: DataClaimStatus | undefined, seen: Partial<SeenDataClaim> = {}) {
  const mark = state === undefined ? undefined : { id: "r2", state };
  return decideDataClaim({ mark, recorded, first: "data", isStopped: false, exists: () => true, ...seen });
}

const old = { claim: "data-r1", previousClaims: ["data"], restored: "r1" };
const restored = { claim: "data-r2", previousClaims: ["data", "data-r1"], restored: "r2" };
const [onFirst, onOld, onPrepared, nowhere] = ["data", "data-r1", "data-r2", undefined];

test.each<[string, State | undefined, DataClaimStatus | undefined, string | undefined, DataClaimStatus]>([
  // what, the mark, the status before, runs on, the status after
  ["a new instance", undefined, undefined, onFirst, { claim: "data", previousClaims: [] }],
  ["an instance without a restore", undefined, old, onOld, old],
  ["a new instance whose data are prepared", "waiting", undefined, nowhere, {}],
  ["a new instance with prepared data", "start", {}, onPrepared, { ...restored, previousClaims: [] }],
  ["an instance that stops", "stop", old, nowhere, old],
  ["an instance that starts on restored data", "start", old, onPrepared, restored],
  ["an instance that has started on them", "start", restored, onPrepared, restored],
  ["an instance that goes back", "back", restored, onOld, { claim: "data-r1", previousClaims: ["data"] }],
  ["an instance that went back", "back", old, onOld, old],
  ["one that goes back and never ran", "back", { claim: "data-r2", previousClaims: [] }, onFirst, { claim: "data" }],
  ["an instance that keeps the restored data", "done", restored, onPrepared, restored],
])("%s, mark %s", (_, state, before, runsOn, after) => {
  const decision = decide(state, before);
  expect(decision.runsOn).toBe(runsOn);
  expect(decision.status).toMatchObject(after);
  expect(decision.status.stoppedFor).toBeUndefined();
});

test.each(["stop", "waiting"] as const)("it has stopped for a restore once no server runs, mark %s", (state) => {
  expect(decide(state, old, { isStopped: true }).status.stoppedFor).toBe("r2");
});

test("all claims from before are unneeded only when the restore is done, and forgotten when they are gone", () => {
  expect(decide("start", restored).unneeded).toEqual([]);
  expect(decide("done", restored).unneeded).toEqual(["data", "data-r1"]);
  expect(decide("done", restored, { exists: (name) => name === "data" }).unneeded).toEqual(["data"]);
  expect(decide("done", restored, { exists: () => false }).status.previousClaims).toEqual([]);
});
