import type { StepFacts } from "setpoint";
import { describe, expect, test } from "vitest";
import { degraded } from "./degraded.ts";
import { a, b, c, cluster, member, seen } from "../plan/situation.fixture.ts";

const facts: StepFacts = { now: "2026-01-01T00:10:00Z", since: "2026-01-01T00:10:00Z" };
const degradedBefore = { conditions: [{ type: "Degraded", status: "True", reason: "MembersUnhealthy" }] };

/** Status, reason and message in one line. */
function said(situation: ReturnType<typeof seen>, phase: Parameters<typeof degraded>[1] = "Running"): string {
  const { status, reason, message } = degraded(situation, phase, facts);
  return `${status} ${reason}: ${message}`;
}

describe("Degraded", () => {
  test.each([
    ["all is well", seen([a(), b(), c()]), "False AllHealthy: All 3 members answer"],
    [
      "one died",
      seen([a(), b(), c({ pod: "Failed", exitCode: 137 })]),
      'True MembersUnhealthy: 1 of 3 members is not healthy: c has a pod that ended: container "etcd" ended with exit code 137 (Error, SIGKILL); something outside of the container ended it; the next start is not before 2026-01-01T00:11:00Z',
    ],
    [
      "two are away",
      seen([a(), b({ pod: "gone" }), c({ answers: false })]),
      "True MembersUnhealthy: 2 of 3 members are not healthy: b has no pod; c does not answer",
    ],
    [
      "a claim is being deleted",
      seen([a(), b(), c({ volume: "leaving" })]),
      "True VolumeTerminating: claim data-c is being deleted: c loses its data when its pod ends, and is replaced then",
    ],
    [
      "a lost member was removed",
      seen([a(), b()], {
        cluster: cluster({}, { ...degradedBefore, members: [{ name: "c", healthy: false, role: "Unknown" }] }),
      }),
      "True MemberReplaced: 2 of 3 members vote: c is lost and is being replaced",
    ],
    [
      "its successor joins",
      seen([a(), b(), member("d", { learner: true })], {
        cluster: cluster({}, { ...degradedBefore, members: [], lostMembers: ["c"] }),
      }),
      "True MemberReplaced: 2 of 3 members vote: c is lost and is being replaced; d joins as a learner",
    ],
    [
      "its successor votes",
      seen([a(), b(), member("d")], { cluster: cluster({}, { ...degradedBefore, members: [], lostMembers: ["c"] }) }),
      "False AllHealthy: All 3 members answer",
    ],
    [
      "it grows, as asked",
      seen([a(), b(), c()], { cluster: cluster({ size: 5 }) }),
      "False AllHealthy: All 3 members answer",
    ],
    [
      "the members of a first start fail",
      seen(
        ["a", "b", "c"].map((name) => member(name, { pod: "Failed", exitCode: 1, listed: false, failures: 2 })),
        {
          cluster: cluster({}, { clusterID: undefined }),
          quorum: false,
          clusterIds: [],
        },
      ),
      'True MembersUnhealthy: The pod of a does not run (3 pods do not run): container "etcd" ended with exit code 1 (Error); pods failed 2 times in a row; the next start is not before 2026-01-01T00:11:00Z',
    ],
    [
      "no quorum",
      seen([a({ pod: "Failed", listed: false }), b({ listed: false })], { quorum: false }),
      "True NoQuorum: No quorum answers; a has a pod that ended",
    ],
  ])("%s", (_, situation, expected) => {
    expect(said(situation)).toBe(expected);
  });

  test("a member that answers counts as ill while its pod is not ready, in the words of who says so", () => {
    const ready = { type: "Ready", status: "False", reason: "NodeNotReady" };
    const sick = c();
    const pod = { ...sick.pod, status: { ...sick.pod?.status, conditions: [ready] } } as NonNullable<typeof sick.pod>;
    expect(said(seen([a(), b(), { ...sick, pod }]), "Recovering")).toBe(
      "True MembersUnhealthy: 1 of 3 members is not healthy: c answers, and its pod is not ready (NodeNotReady)",
    );
  });

  test("an operator that cannot see says so in place of what it saw last", () => {
    expect(degraded(seen([a(), b(), c()]), "Running", { ...facts, outdated: "Cannot list pods" })).toEqual({
      type: "Degraded",
      status: "Unknown",
      reason: "NotObserved",
      message: "Cannot list pods",
    });
  });
});

test("a split brain names the members of each cluster", () => {
  const other = c();
  const stranger = { ...other, status: other.status && { ...other.status, clusterId: "c2" } };
  const situated = seen([a(), b(), stranger], { clusterIds: ["c1", "c2"] });
  const { reason, message } = degraded(situated, "Failed", {
    now: "2026-01-01T00:00:00Z",
    since: "2026-01-01T00:00:00Z",
  });
  expect(reason).toBe("SplitBrain");
  expect(message).toBe("Members belong to different clusters: c1 (a, b) and c2 (c)");
});
