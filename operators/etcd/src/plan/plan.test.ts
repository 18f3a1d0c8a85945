import { describe, expect, test } from "vitest";
import { claims } from "../testing/etcd-stage.ts";
import { plan } from "./plan.ts";
import type { SeenMember } from "../seen/seen.ts";
import { a, b, c, cluster, member, seen, step, type MemberSketch, nowMs } from "./situation.fixture.ts";

const down = { quorum: false, clusterIds: [] } as const;
const gone = (name: string, sketch: MemberSketch = {}): SeenMember =>
  member(name, { pod: "gone", listed: false, ...sketch });

describe("plan", () => {
  test.each([
    ["all is well", seen([a(), b(), c()]), "rest"],
    [
      "paused, with a dead member",
      seen([a(), b(), c({ pod: "Failed" })], { cluster: cluster({ paused: true }) }),
      "rest",
    ],
    ["a Service is missing", seen([a(), b(), c()], { servicesToApply: ["orders"] }), "applyServices"],
    ["a Service has another owner", seen([a(), b(), c()], { serviceTaken: "orders" }), "wait"],
    [
      "no member reports its status, because etcd refuses the login of root",
      seen([a({ answers: false })], {
        ...down,
        cluster: cluster({ auth: { enabled: true }, tls: { mode: "Enabled" } }),
        authentication: "Refused",
      }),
      "enableAuthentication",
    ],
    [
      "the same without TLS: only a person knows the password",
      seen([a({ answers: false })], {
        ...down,
        cluster: cluster({ auth: { enabled: true }, tls: { mode: "Disabled" } }),
        authentication: "Refused",
      }),
      "wait",
    ],
    ["members of two clusters", seen([a(), b(), c()], { clusterIds: ["c1", "c2"] }), "wait"],

    ["a member's process died", seen([a(), b(), c({ pod: "Failed" })]), "removeMember c"],
    [
      "a member's process died, its volume is there",
      seen([a(), b(), c({ pod: "Failed", volume: true })]),
      "removeMember c",
    ],
    ["a pod was deleted, its volume is there", seen([a(), b(), c({ pod: "gone", volume: true })]), "startMember c"],
    ["a pod was deleted, there is no volume", seen([a(), b(), c({ pod: "gone" })]), "removeMember c"],
    [
      "a member is silent for a moment",
      seen([a(), b(), c({ answers: false, silentSince: "2026-01-01T00:09:30Z" })]),
      "wait",
    ],
    [
      "a member is silent for too long",
      seen([a(), b(), c({ answers: false, silentSince: "2026-01-01T00:08:30Z" })]),
      "removeMember c",
    ],
    ["a member answers, its pod is not ready yet", seen([a(), b(), c({ serves: false })]), "wait"],
    ["a pod is stopping", seen([a(), b(), c({ pod: "stopping", answers: false })]), "wait"],
    [
      "two members died, three of five answer",
      seen([a(), b(), c(), member("d", { pod: "Failed" }), member("e", { pod: "Failed" })], {
        cluster: cluster({ size: 5 }),
      }),
      "removeMember d",
    ],

    [
      "a removed member's pod is left",
      seen([a(), b(), c({ listed: false, pod: "Failed", volume: true })]),
      "deletePod c",
    ],
    [
      "a removed member's volume is left",
      seen([a(), b(), c({ listed: false, pod: "gone", volume: true })]),
      "deleteVolume c",
    ],
    [
      "a removed member's pod is stopping",
      seen([a(), b(), c({ listed: false, pod: "stopping", volume: true })]),
      "addLearner",
    ],

    ["one member too few", seen([a(), b()]), "addLearner"],
    [
      "a learner was added and has no pod",
      seen([a(), b(), c({ pod: "gone", learner: true, started: false })]),
      "startMember c",
    ],
    ["a learner's pod is starting", seen([a(), b(), c({ pod: "Pending", learner: true, started: false })]), "wait"],
    [
      "a member ends by itself at once",
      seen([a(), b(), c({ pod: "Failed", exitCode: 1, failures: 1 })]),
      "removeMember c",
    ],
    [
      "its replacement ends by itself at once, too",
      seen([a(), b(), c({ pod: "Failed", exitCode: 1, failures: 2, learner: true, started: false })]),
      "wait",
    ],
    ["a learner's pod failed", seen([a(), b(), c({ pod: "Failed", learner: true, started: false })]), "removeMember c"],
    ["a learner is behind", seen([a(), b(), c({ learner: true, raftIndex: 50 })]), "wait"],
    ["a learner is in sync", seen([a(), b(), c({ learner: true, raftIndex: 95 })]), "promote c"],
    [
      "a learner is in sync while five are wanted",
      seen([a(), b(), c({ learner: true })], { cluster: cluster({ size: 5 }) }),
      "promote c",
    ],
    [
      "one member too many, the one removed before is still stopping",
      seen([a(), b(), c({ listed: false, pod: "stopping" })], { cluster: cluster({ size: 1 }) }),
      "wait",
    ],
    ["two members too many", seen([a(), b(), c()], { cluster: cluster({ size: 1 }) }), "removeMember c"],
    [
      "two members too many, the last one leads",
      seen(
        [a({ leads: false }), b(), c({ leads: true })].map((each) => ({
          ...each,
          status: each.status && { ...each.status, leaderId: "id-c" },
        })) as SeenMember[],
        { cluster: cluster({ size: 1 }) },
      ),
      "removeMember b",
    ],

    ["all run the old version", seen([a(), b(), c()], { targetVersion: "3.5.16" }), "upgradeMember b"],
    [
      "a follower restarts with the new version",
      seen([a(), b({ version: "3.5.16", answers: false }), c()], { targetVersion: "3.5.16" }),
      "wait",
    ],
    [
      "a follower still answers as the old version",
      seen([a(), b({ version: "3.5.16", runs: "3.4.23" }), c()], { targetVersion: "3.5.16" }),
      "wait",
    ],
    [
      "one follower is upgraded",
      seen([a(), b({ version: "3.5.16" }), c()], { targetVersion: "3.5.16" }),
      "upgradeMember c",
    ],
    [
      "only the leader is old",
      seen([a(), b({ version: "3.5.16" }), c({ version: "3.5.16" })], { targetVersion: "3.5.16" }),
      "moveLeader a",
    ],
    [
      "the only member is old",
      seen([a()], { targetVersion: "3.5.16", cluster: cluster({ size: 1 }) }),
      "upgradeMember a",
    ],
    ["resize and upgrade at once", seen([a(), b()], { targetVersion: "3.5.16" }), "addLearner"],

    [
      "no quorum, the processes died, the volumes are there",
      seen([gone("a", { pod: "Failed", volume: true }), gone("b", { pod: "Failed", volume: true })], down),
      "deletePod a",
    ],
    [
      "no quorum, pods are gone, volumes are there",
      seen([gone("a", { volume: true }), gone("b", { volume: true })], down),
      "startMember a",
    ],
    ["no quorum and no volumes", seen([gone("a"), gone("b")], down), "wait"],
    [
      "no quorum, the leader died, the others are about to elect one",
      seen(
        [gone("a", { pod: "Failed", volume: true }), gone("b", { pod: "Running" }), gone("c", { pod: "Running" })],
        down,
      ),
      "wait",
    ],
    [
      "no quorum, one dead with a volume, the others hang",
      seen(
        [
          gone("a", { pod: "Failed", volume: true }),
          gone("b", { pod: "Running", silentSince: "2026-01-01T00:08:30Z" }),
          gone("c", { pod: "Running" }),
        ],
        down,
      ),
      "deletePod a",
    ],
    [
      "no quorum, two start again and the third is still dead",
      seen(
        [
          gone("a", { pod: "Pending", volume: true }),
          gone("b", { pod: "Pending", volume: true }),
          gone("c", { pod: "Failed", volume: true }),
        ],
        down,
      ),
      "deletePod c",
    ],
    [
      "no quorum, members are starting",
      seen([gone("a", { pod: "Pending", volume: true }), gone("b", { pod: "Pending", volume: true })], down),
      "wait",
    ],
    [
      "no quorum, one dead without a volume, nobody may be removed",
      seen(
        [gone("a", { pod: "Failed" }), gone("b", { pod: "Running", answers: false }), gone("c", { pod: "Failed" })],
        down,
      ),
      "wait",
    ],
  ])("%s", (_situation, given, expected) => {
    expect(step(given)).toBe(expected);
  });

  test("a learner whose claim is deleted before its first start is recreated when the claim is gone", () => {
    const wanted = cluster(claims);
    const learner = (sketch: MemberSketch): string =>
      step(
        seen([a({ volume: true }), b({ volume: true }), c({ ...sketch, learner: true, started: false })], {
          cluster: wanted,
        }),
      );
    expect(learner({ pod: "Pending", volume: "leaving" })).toBe("deletePod c");
    expect(learner({ pod: "gone", volume: "leaving" })).toMatch(/^wait/);
    expect(learner({ pod: "gone" })).toBe("startMember c");
  });

  test.each([
    ["paused", { paused: true }, "Paused"],
    ["with a refused field", {}, "FieldsRefused"],
    ["with a refused field and asleep", { ...claims, hibernated: true }, "FieldsRefused"],
  ])("a cluster at rest that is %s says so", (_, spec, reason) => {
    const refusals = [{ field: "spec.pod", why: "it is refused" }];
    const asleep = "hibernated" in spec ? [] : [a(), b(), c()];
    expect(plan(seen(asleep, { cluster: cluster(spec), refusals }), nowMs)).toMatchObject({
      ...{ kind: "rest", stalled: { reason } },
    });
  });

  test("every step says why", () => {
    const decided = plan(seen([a(), b(), c({ pod: "Failed" })]), nowMs);
    expect(decided).toMatchObject({ reason: "the pod of c failed, quorum is safe: 2 of 3 answer" });
  });
});
