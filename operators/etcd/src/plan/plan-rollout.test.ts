/** What the plan does when members run with older settings or smaller volumes than the spec has. */
import { expect, test } from "vitest";
import { claims } from "../testing/etcd-stage.ts";
import { a, b, c, cluster, type MemberSketch, member, seen, step } from "./situation.fixture.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

const onVolumes = cluster(claims);
const all = ["a", "b", "c"];
const old = (outdated: readonly string[], overrides: Partial<Situation> = {}): Partial<Situation> => ({
  cluster: onVolumes,
  outdated,
  ...overrides,
});
const refused: MemberSketch = { pod: "Failed", exitCode: 1, volume: true };
const restarting = { cluster: cluster(claims, { restarting: "c" }) };
const four: readonly SeenMember[] = [a(), b(), c(), member("d")];

test.each<[string, Situation, string]>([
  ["all are outdated", seen([a(), b(), c()], old(all)), "restartMember b"],
  ["the leader is the last", seen([a(), b(), c()], old(["a"])), "moveLeader a"],
  [
    "the only member is outdated",
    seen([a()], old(["a"], { cluster: cluster({ ...claims, size: 1 }) })),
    "restartMember a",
  ],
  ["another member is silent", seen([a(), b(), c({ answers: false })], old(["b"])), "wait"],
  ["another member is not ready", seen([a(), b(), c({ serves: false })], old(["b"])), "wait"],
  ["the version changes too", seen([a(), b(), c()], old(all, { targetVersion: "3.5.16" })), "restartMember b"],
  ["a member is missing", seen([a(), b()], old(["b"])), "addLearner"],
  ["there are no volumes", seen([a(), b(), c()], { outdated: all }), "addLearner"],
  ["a new member votes beside those without volumes", seen(four, { outdated: all }), "removeMember c"],
  ["only the leader without a volume is outdated", seen(four, { outdated: ["a"] }), "moveLeader a"],
  ["a restarted member refuses its settings", seen([a(), b(), c(refused)], restarting), "wait"],
  ["other settings are there since", seen([a(), b(), c(refused)], { ...restarting, outdated: ["c"] }), "deletePod c"],
  [
    "a pod does not start with older settings",
    seen([a(), b(), c({ pod: "Pending", volume: true })], old(["c"])),
    "deletePod c",
  ],
  ["another one fails as soon as it starts", seen([a(), b(refused), c()], restarting), "removeMember b"],
  ["a volume is too small", seen([a(), b(), c()], { cluster: onVolumes, small: ["b", "c"] }), "growVolume b"],
  ["the budget is missing", seen([a(), b(), c({ pod: "Failed" })], { needsBudget: true }), "applyBudget"],
])("when %s, the step is right", (_, situated, expected) => {
  expect(step(situated)).toBe(expected);
});
