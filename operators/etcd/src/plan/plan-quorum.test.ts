/** What the plan does when a majority is lost for good. */
import { expect, test } from "vitest";
import { claims } from "../testing/etcd-stage.ts";
import { approvalAnnotation } from "../kind/quorum-recovery.ts";
import { approvalOf } from "./quorum-loss.ts";
import { a, b, c, cluster, type MemberSketch, member, seen, step, nowMs } from "./situation.fixture.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdConditions, etcdStatus } from "../status/status.ts";
import { plan } from "./plan.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

const since = "2026-01-01T00:00:00Z";
const now = "2026-01-01T00:10:00Z";
/** Without a leader, on its volume. */
const survivor = (name: string, raftIndex: number, sketch: MemberSketch = {}): SeenMember => {
  const { status, ...rest } = member(name, { volume: true, listed: false, ...sketch });
  return { ...rest, position: { raftIndex, revision: raftIndex }, status: status && { ...status, leaderId: "" } };
};
const lost = (name: string, forMs = 121_000, sketch: MemberSketch = {}): SeenMember => ({
  ...member(name, { pod: "gone", answers: false, listed: false, ...sketch }),
  absentForMs: forMs,
});

type Policy = EtcdCluster["spec"]["quorumRecovery"]["policy"];

function situation(members: readonly SeenMember[], policy: Policy, consent?: string, status: object = {}): Situation {
  const record = { state: "Waiting", since, survivor: "a", lost: [], survivors: [], possibleLoss: "", ...status };
  const spec = { ...claims, quorumRecovery: { policy, fencingSeconds: 120, withoutCopy: false, keepCopySeconds: 60 } };
  const wanted = cluster(spec, { quorumRecovery: record });
  const annotations = consent === undefined ? {} : { [approvalAnnotation]: consent };
  const annotated = { ...wanted, metadata: { ...wanted.metadata, annotations } };
  return seen(members, { quorum: false, cluster: annotated });
}

const consent = approvalOf(seen([]), a(), since);
const three = [survivor("a", 9), lost("b"), lost("c", 121_000, { pod: "Running" })];
const recovering = { state: "Recovering", fenced: ["b", "c"], approval: "t" };
const forcedPod = (of: SeenMember): SeenMember => ({
  ...of,
  pod: { ...of.pod, spec: { containers: [{ name: "etcd", args: ["--force-new-cluster"] }] } } as SeenMember["pod"],
});
const given = (...members: readonly SeenMember[]): Partial<Situation> => ({ givenUp: members });

test.each<[string, Situation, string]>([
  ["there is no consent", situation(three, "onApproval"), "wait"],
  ["there is another consent", situation(three, "onApproval", "other"), "wait"],
  ["a user consents", situation(three, "onApproval", consent), "giveUpMember c"],
  ["the policy is never, and a user consents", situation(three, "never", consent), "wait"],
  ["the time is over", situation(three, "afterTimeout"), "giveUpMember c"],
  ["the status named another survivor", situation(three, "afterTimeout", undefined, { survivor: "b" }), "wait"],
  ["the status has not named it yet", situation(three, "afterTimeout", undefined, { state: "Recovered" }), "wait"],
  [
    "a member is silent for a short time",
    situation([three[0] ?? a(), lost("b"), lost("c", 60_000)], "afterTimeout"),
    "wait",
  ],
  [
    "a silent member is ready by its node",
    situation([survivor("a", 9), lost("b"), lost("c", 121_000, { pod: "Running", serves: true })], "afterTimeout"),
    "wait",
  ],
  [
    "the survivor follows a leader",
    situation([{ ...survivor("a", 9), status: a().status }, lost("b"), lost("c")], "afterTimeout"),
    "wait",
  ],
  [
    "the survivor has no volume",
    situation([survivor("a", 9, { volume: false }), lost("b"), lost("c")], "afterTimeout"),
    "wait",
  ],
  [
    "the one that the status named has less",
    situation([survivor("a", 9), survivor("b", 10), lost("c"), lost("d"), lost("e")], "afterTimeout"),
    "wait",
  ],
  ["the others have stopped", situation([survivor("a", 9)], "afterTimeout", undefined, recovering), "deletePod a"],
  [
    "another one is stopping",
    { ...situation([survivor("a", 9)], "afterTimeout", undefined, recovering), ...given(c({ pod: "stopping" })) },
    "wait",
  ],
  [
    "the survivor has stopped",
    situation([survivor("a", 9, { pod: "gone" })], "afterTimeout", undefined, recovering),
    "startAlone a",
  ],
  [
    "the survivor starts alone",
    situation([forcedPod(survivor("a", 9))], "afterTimeout", undefined, recovering),
    "wait",
  ],
  ["the survivor leads alone", seen([forcedPod(a())]), "deletePod a"],
  ["a member that was given up has a pod again", seen([a(), b(), c()], given(member("d"))), "giveUpMember d"],
  ["a volume of one that was given up is left", seen([a(), b(), c()], given(lost("d", 0, { volume: true }))), "rest"],
])("when a majority is lost and %s, the step is right", (_, situated, expected) => {
  expect(step(situated)).toBe(expected);
});

const failed = (sketch: MemberSketch): MemberSketch => ({ pod: "Failed", volume: true, answers: false, ...sketch });

test.each<[string, MemberSketch, string]>([
  ["was killed", { exitCode: 137 }, "deletePod a"],
  ["got SIGTERM", { exitCode: 143 }, "deletePod a"],
  ["needs too much memory", { exitCode: 137, exitReason: "OOMKilled" }, "wait"],
  ["refuses to run", { exitCode: 1 }, "wait"],
])(
  "without a quorum, a member that %s right after its start is started again at the right time",
  (_, how, expected) => {
    const members = [a(failed(how)), b(failed(how)), c(failed(how))];
    const situated = { ...seen(members), quorum: false };
    expect(step(situated)).toBe(expected);
    const said = JSON.stringify(plan(situated, nowMs));
    expect(said.includes("failed right after the start: a, b, c;")).toBe(expected === "wait");
    const later = members.map((each) => ({ ...each, failedForMs: 10_000 }));
    expect(step({ ...seen(later), quorum: false })).toBe("deletePod a");
  },
);

test("the choice of the survivor is recorded before anything is done", () => {
  const situated = situation(three, "afterTimeout");
  const { quorumRecovery } = etcdStatus(situated, plan(situated, nowMs), { now, since: now });
  expect(quorumRecovery).toMatchObject({ state: "Recovering", since, survivor: "a", revision: 9, fenced: ["b", "c"] });
});

test("the possible loss is computed from the highest revision that was seen", () => {
  const situated = { ...situation(three, "onApproval"), highestRevision: 12 };
  const conditions = etcdConditions(situated, plan(situated, nowMs), { now, since: now });
  const { message } = conditions.find(({ type }) => type === "QuorumLost") ?? {};
  expect(message).toContain("At least 3 revisions: revision 12 was seen before, a has 9");
  expect(message).toContain(`"${consent}"`);
});
