/** What the plan does about a member whose disk is slow. */
import { expect, test } from "vitest";
import { a, b, c, cluster, member, seen, step } from "./situation.fixture.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

const healing = { slowDisk: "replace", slowDiskMilliseconds: 500, slowDiskSeconds: 600 } as const;
const named = [{ name: "c", since: "2026-01-01T00:00:00Z", p99Milliseconds: 512 }];
const d = member("d");

/** The disk of `c` is slow, and the status says so. */
function withSlowDisk(members: readonly SeenMember[], status: object = {}, spec: object = {}): Situation {
  const disks = new Map(members.map(({ name }) => [name, { p99Ms: 1, slowForMs: 0 }]));
  disks.set("c", { p99Ms: 900, slowForMs: 700_000 });
  return seen(members, { disks, cluster: cluster({ healing, ...spec }, { slowDisks: { members: named, ...status } }) });
}

const unready = { serves: false };

test.each<[string, Situation, string]>([
  ["its pod is ready", withSlowDisk([a(), b(), c()]), "addLearner"],
  ["its pod is not ready", withSlowDisk([a(), b(), c(unready)]), "addLearner"],
  ["it does not answer at the moment", withSlowDisk([a(), b(), c({ answers: false })]), "addLearner"],
  ["another pod is not ready either", withSlowDisk([a(), b(unready), c(unready)]), "wait"],
  ["only another pod is not ready", withSlowDisk([a(), b(unready), c()]), "wait"],
  [
    "it is only to be reported",
    withSlowDisk([a(), b(), c(unready)], {}, { healing: { ...healing, slowDisk: "report" } }),
    "wait",
  ],
  [
    "the last replacement was ten minutes ago",
    withSlowDisk([a(), b(), c(unready)], { lastReplacement: "2026-01-01T00:00:00Z" }),
    "wait",
  ],
  [
    "the learner was refused",
    withSlowDisk([a(), b(), c(unready)], { replacing: "c", lastReplacement: "2026-01-01T00:09:00Z" }),
    "addLearner",
  ],
  [
    "another member has its place",
    withSlowDisk([a(), b(), c(unready), d], { replacing: "c", lastReplacement: "2026-01-01T00:09:00Z" }),
    "removeMember c",
  ],
])("when a disk is slow and %s", (_, situation, expected) => {
  expect(step(situation)).toBe(expected);
});
