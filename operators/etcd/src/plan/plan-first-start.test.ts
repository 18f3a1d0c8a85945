import { expect, test } from "vitest";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { claims } from "../testing/etcd-stage.ts";
import { initialMembers } from "../seen/initial-members.ts";
import { plan } from "./plan.ts";
import { a, b, c, cluster, seen, step, type MemberSketch, nowMs } from "./situation.fixture.ts";

/** A cluster that has begun to start for the first time. */
function starting(spec: Partial<EtcdCluster["spec"]> = {}): EtcdCluster {
  return cluster(spec, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
}

test("the first start makes all members with one static list", () => {
  const fresh = cluster({}, { clusterID: undefined });
  const names = initialMembers({ cluster: fresh, members: [] });
  expect(names).toHaveLength(3);
  const decided = plan(seen([], { cluster: fresh, quorum: false, clusterIds: [] }), nowMs);
  expect(decided).toMatchObject({
    action: "startFounders",
    args: { members: names, initialCluster: names },
  });
});

test("a member that fails before it has joined for the first time is started again, not removed", () => {
  const fresh = starting();
  expect(step(seen([a(), b(), c({ pod: "Failed", started: false })], { cluster: fresh }))).toBe("deletePod c");
  expect(step(seen([a(), b()], { cluster: fresh }))).toBe("startFounders c");
  expect(step(seen([a(), c({ pod: "Failed", started: false })], { cluster: fresh }))).toBe("deletePod c");
});

test("a member that joined during the first start and lost its data is replaced: etcd takes nobody back under an old name", () => {
  const fresh = starting();
  expect(step(seen([a(), b(), c({ pod: "Failed" })], { cluster: fresh }))).toBe("removeMember c");
  expect(step(seen([a(), b(), c({ pod: "Failed", volume: true })], { cluster: fresh }))).toBe("deletePod c");
});

test("a founder whose claim was deleted before its pod could start is replaced, once a quorum can say who is there", () => {
  const fresh = starting(claims);
  const [one, two] = [a({ volume: true }), b({ volume: true })];
  const stuck = c({ pod: "Pending", started: false });
  expect(step(seen([one, two, stuck], { cluster: fresh }))).toBe("removeMember c");
  expect(step(seen([one, two, c({ pod: "Pending", started: false, volume: true })], { cluster: fresh }))).toMatch(
    /^wait/,
  );
  expect(step(seen([one, two, c({ pod: "Pending", started: false, volume: "leaving" })], { cluster: fresh }))).toBe(
    "removeMember c",
  );
  expect(step(seen([one, stuck], { cluster: fresh, quorum: false }))).not.toBe("removeMember c");
});

test("a pod of the first start whose claim is being deleted goes first, and comes back when the claim is gone", () => {
  const fresh = starting(claims);
  const first = (sketch: MemberSketch): string =>
    step(seen([a({ ...sketch, started: false, recorded: false })], { cluster: fresh, quorum: false }));
  expect(first({ pod: "Pending", volume: "leaving" })).toBe("deletePod a");
  expect(first({ pod: "gone", volume: "leaving" })).toBe("startFounders b c");
  expect(first({ pod: "gone" })).toBe("startFounders a b c");
});

test("a founder that was started again on an empty volume, and ends by itself at once, is replaced", () => {
  const fresh = starting();
  const refused = c({ pod: "Failed", volume: true, exitCode: 1 });
  expect(step(seen([a(), b(), refused], { cluster: fresh }))).toBe("removeMember c");
  const killed = { ...c({ pod: "Failed", volume: true, exitCode: 137 }), failedForMs: 10_000 };
  expect(step(seen([a(), b(), killed], { cluster: fresh }))).toBe("deletePod c");
  expect(step(seen([a(), refused], { cluster: fresh, quorum: false }))).not.toBe("removeMember c");
});

test("who fails right after its start is started again ten seconds later, whatever the operator's wall clock says", () => {
  const fresh = starting();
  const failed = c({ pod: "Failed", started: false, exitCode: 1 });
  const after = (failedForMs: number): string => step(seen([a(), b(), { ...failed, failedForMs }], { cluster: fresh }));
  expect(after(0)).toMatch(/^wait/);
  expect(after(9_999)).toMatch(/^wait/);
  expect(after(10_000)).toBe("deletePod c");
});

test("the first start keeps to its recorded members when the size changes meanwhile", () => {
  const fresh = starting({ size: 5 });
  expect(initialMembers({ cluster: fresh, members: [] })).toEqual(["a", "b", "c"]);
});

test("founders that fail again and again start after longer and longer pauses, and the wait says why and how often", () => {
  const [fresh, pauses] = [starting(), [10, 20, 40, 80, 160, 300, 300]];
  for (const [at, pause] of pauses.entries()) {
    const failing = (failedForMs: number): ReturnType<typeof seen> => {
      const sketch = { pod: "Failed", exitCode: 1, started: false, listed: false, failures: at + 1 } as const;
      const members = [a(sketch), b(sketch), c(sketch)].map((each) => ({ ...each, failedForMs }));
      return seen(members, { cluster: fresh, quorum: false, clusterIds: [] });
    };
    expect(step(failing(pause * 1_000 - 1))).toBe("wait");
    expect(step(failing(pause * 1_000))).toBe("deletePod a");
  }
  const sketch = { pod: "Failed", exitCode: 1, started: false, listed: false, failures: 3 } as const;
  const members = [a({ pod: "Running", answers: false, listed: false }), b(sketch), c(sketch)];
  expect(plan(seen(members, { cluster: fresh, quorum: false, clusterIds: [] }), nowMs)).toMatchObject({
    reason:
      'first start: waiting for a, b, c to join (b: container "etcd" ended with exit code 1 (Error); pods failed 3 times in a row; the next start is not before 2026-01-01T00:11:00Z)',
  });
});
