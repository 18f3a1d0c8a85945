import { expect, test } from "vitest";
import { claims } from "../testing/etcd-stage.ts";
import { plan } from "./plan.ts";
import { judgeFencing } from "./fencing-judgement.ts";
import { isRestoring } from "../seen/restore-view.ts";
import { quorumLoss } from "./quorum-loss.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";
import { a, b, c, cluster, member, nowMs, seen, step } from "./situation.fixture.ts";

/** A user fenced these, and the operator has accepted it. */
function fencing(names: readonly string[], members: readonly SeenMember[], more: Partial<Situation> = {}): Situation {
  const spec = { ...claims, fencing: { members: names, allowQuorumLoss: false } };
  const size = members.length === 5 ? 5 : 3;
  return seen(members, { cluster: cluster({ ...spec, size }), fencing: { fenced: names, refused: [] }, ...more });
}

const stopped = { pod: "gone", volume: true } as const;
const away = { quorum: false, clusterIds: [] } as const;
const hung = { answers: false, silentSince: "2026-01-01T00:08:30Z", volume: true } as const;
const d = member("d");
const marked = {
  mark: { id: "r1", state: "stop" },
  prepared: [],
  before: [],
  older: [],
  current: [],
  restored: [],
} as const;

test.each<[situation: string, Situation, expected: string]>([
  ["a follower runs", fencing(["c"], [a(), b(), c()]), "fenceMember c"],
  ["the leader runs: another one takes over", fencing(["a"], [a(), b(), c()]), "moveLeader a"],
  ["all run, and a quorum has to stay", fencing(["a", "b", "c"], [a(), b(), c()]), "wait"],
  ["it is stopping", fencing(["c"], [a(), b(), c({ pod: "stopping", answers: false })]), "wait"],
  ["it has stopped", fencing(["c"], [a(), b(), c(stopped)]), "wait"],
  ["it has stopped, and its volume is gone", fencing(["c"], [a(), b(), c({ pod: "gone" })]), "wait"],
  ["it runs while another one is away: that one first", fencing(["c"], [a(), b(stopped), c()]), "startMember b"],
  [
    "another one fails: nobody could take its place",
    fencing(["c"], [a(), b({ pod: "Failed", volume: true }), d, member("e"), c(stopped)]),
    "deletePod b",
  ],
  [
    "another one hangs: nobody could take its place",
    fencing(["c"], [a(), b(hung), d, member("e"), c(stopped)]),
    "deletePod b",
  ],
  [
    "another one has lost its volume",
    fencing(["c"], [a(), b({ pod: "Failed" }), d, member("e"), c(stopped)]),
    "removeMember b",
  ],
  [
    "another one was lost: nobody joins yet",
    fencing(["c"], [a(), b(), c(stopped)], { cluster: cluster({ ...claims, size: 5 }) }),
    "wait",
  ],
  ["settings have changed", fencing(["c"], [a(), b(), c(stopped)], { outdated: ["b"] }), "wait"],
  [
    "no quorum: others come back",
    fencing(["c"], [a({ answers: false }), b(stopped), c(stopped)], away),
    "startMember b",
  ],
  [
    "no quorum: a fenced one that runs stops",
    fencing(["b", "c"], [a({ answers: false }), b({ answers: false }), c(stopped)], away),
    "fenceMember b",
  ],
  ["a restore begins", fencing(["c"], [a(), b(), c(stopped)], { restore: marked }), "wait"],
])("%s", (_, situation, expected) => {
  expect(step(situation)).toBe(expected);
});

test("with permission all members stop, the leader last", () => {
  const spec = { ...claims, fencing: { members: ["*"], allowQuorumLoss: true } };
  const all = { fenced: ["a", "b", "c"], refused: [] };
  const decided = (members: readonly SeenMember[]): string =>
    step(seen(members, { cluster: cluster(spec), fencing: all }));
  expect(decided([a(), b(), c()])).toBe("fenceMember b");
  expect(decided([a(), b(stopped), c()])).toBe("fenceMember c");
  expect(decided([a(), b(stopped), c(stopped)])).toBe("fenceMember a");
});

test("a majority is not lost for good with a fenced member in it, however long that one is away", () => {
  const gone = (name: string): SeenMember => ({
    ...member(name, { ...stopped, answers: false }),
    absentForMs: 3_600_000,
  });
  const left: SeenMember = { ...a({ answers: false }), position: { raftIndex: 9, revision: 9 } };
  const members = [left, gone("b"), gone("c")];
  expect(quorumLoss(fencing([], members, away))?.lost.map(({ name }) => name)).toEqual(["b", "c"]);
  expect(quorumLoss(fencing(["c"], members, away))).toBeUndefined();
});

test("what waits is named: steps of a change, and a restore", () => {
  const held = plan(fencing(["c"], [a(), b(), c(stopped)], { outdated: ["b"], restore: marked }), nowMs);
  expect(held).toMatchObject({
    reason:
      "member c is fenced; it starts on its volume when removed from spec.fencing.members; until then restore r1 waits; until then these steps wait: 1. RestartMember b",
  });
});

test.each<[situation: string, spec: object, status: object, restoring: boolean, reason: string | undefined]>([
  ["a cluster with volumes that runs", claims, {}, false, undefined],
  ["no volumes", {}, {}, false, "members keep their data in their pods, and would lose them"],
  ["not started yet", claims, { clusterID: undefined }, false, "the cluster has not started yet"],
  ["paused", { ...claims, paused: true }, {}, false, "spec.paused is true"],
  ["a dry run", { ...claims, dryRun: true }, {}, false, "spec.dryRun is true"],
  ["a restore stops all members", claims, {}, isRestoring(marked), "a restore is in progress"],
  ["a recovery", claims, { quorumRecovery: { state: "Growing" } }, false, "a recovery of the quorum is in progress"],
])("%s: whether a member can be fenced", (_, spec, status, restoring, reason) => {
  const wanted = cluster({ ...spec, fencing: { members: ["c"], allowQuorumLoss: false } }, status);
  const { fenced, refused } = judgeFencing(wanted, [a(), b(), c()], true, restoring);
  expect(fenced).toEqual(reason === undefined ? ["c"] : []);
  expect(refused).toEqual(reason === undefined ? [] : [{ member: "c", reason }]);
});
