/** What a change would do, before anything of it happens. */
import { expect, test } from "vitest";
import { changeSteps, hasKnownSteps } from "./change-plan.ts";
import { plan as planAt } from "./plan.ts";
import { a, b, c, cluster, seen } from "./situation.fixture.ts";

const plan = (situation: ReturnType<typeof seen>): ReturnType<typeof planAt> =>
  planAt(situation, Date.parse("2026-01-01T00:10:00Z"));
const three = [a({ volume: true }), b({ volume: true }), c({ volume: true })];
const claims = { volumeClaimTemplate: { resources: { requests: { storage: "2Gi" } } } } as object;

function lines(situation: ReturnType<typeof seen>): readonly string[] {
  return changeSteps(situation).map(({ action, member = "" }) => `${action} ${member}`.trim());
}

test("nothing to change has no steps", () => {
  expect(lines(seen(three))).toEqual([]);
});

test("an upgrade restarts followers first, and cannot be taken back from its first step on", () => {
  const situation = seen(three, { targetVersion: "3.5.16", cluster: cluster({ version: "3.5.16", ...claims }) });
  expect(lines(situation)).toEqual(["RestartMember b", "RestartMember c", "SwitchLeader a", "RestartMember a"]);
  const steps = changeSteps(situation);
  expect(steps[0]?.noReturn).toMatch(/cannot be downgraded/);
  expect(steps.map(({ interruption }) => interruption)[2]).toMatch(/writes wait/);
});

test("a larger cluster gets learners, a smaller one keeps its leader", () => {
  expect(lines(seen(three, { cluster: cluster({ size: 5 }) }))).toEqual(["AddMember", "AddMember"]);
  expect(lines(seen(three, { cluster: cluster({ size: 1 }) }))).toEqual(["RemoveMember c", "RemoveMember b"]);
});

test("the only member interrupts clients", () => {
  const [step] = changeSteps(
    seen([a({ volume: true })], { outdated: ["a"], cluster: cluster({ size: 1, ...claims }) }),
  );
  expect(step).toMatchObject({ action: "RestartMember", member: "a" });
  expect(step?.interruption).toMatch(/^reads and writes fail/);
});

test("a member without a volume is replaced, and volumes grow last", () => {
  expect(lines(seen(three, { outdated: ["b"] }))).toEqual(["ReplaceMember b"]);
  expect(lines(seen(three, { small: ["a", "b"], cluster: cluster(claims) }))).toEqual(["GrowVolume a", "GrowVolume b"]);
});

test("a dry run waits with the steps, and repairs go on", () => {
  const dry = { dryRun: true, size: 5 } as const;
  const waiting = plan(seen(three, { cluster: cluster(dry) }));
  expect(waiting).toMatchObject({ kind: "wait", reason: expect.stringContaining("1. AddMember; 2. AddMember") });
  const broken = [a({ volume: true }), b({ volume: true }), c({ volume: true, pod: "gone" })];
  expect(plan(seen(broken, { cluster: cluster(dry) })).kind).toBe("act");
});

test("outside of a maintenance window an upgrade waits, and repairs do not", () => {
  const closed = "the next maintenance window opens at 2026-01-02T02:00:00Z";
  const upgrade = { targetVersion: "3.5.16", cluster: cluster({ version: "3.5.16", ...claims }), closed };
  expect(plan(seen(three, upgrade))).toMatchObject({ kind: "wait", reason: expect.stringContaining(closed) });
  expect(plan(seen(three, { ...upgrade, closed: undefined })).kind).toBe("act");
  const broken = [a({ volume: true }), b({ volume: true }), c({ volume: true, pod: "gone" })];
  expect(plan(seen(broken, upgrade)).kind).toBe("act");
});

test("a dry run neither stops the members nor wakes them, and says what clients notice", () => {
  const asleep = { phase: "Hibernated", members: [{ name: "a" }] };
  const stopping = seen(three, { cluster: cluster({ dryRun: true, hibernated: true, ...claims }) });
  expect(changeSteps(stopping)).toMatchObject([
    { action: "StopMembers", interruption: expect.stringMatching(/^reads and writes fail/) },
  ]);
  expect(plan(stopping)).toMatchObject({ kind: "wait", reason: expect.stringMatching(/1\. StopMembers/) });
  const waking = seen([], { quorum: false, cluster: cluster({ dryRun: true, ...claims }, asleep) });
  expect(lines(waking)).toEqual(["StartMembers"]);
  expect(plan(waking).kind).toBe("rest");
  const refused = seen(three, { cluster: cluster({ dryRun: true, hibernated: true }) });
  expect(changeSteps(refused)).toMatchObject([{ reason: expect.stringMatching(/^refused/) }]);
});

test("a dry run does not turn authentication on, which is a point of no return", () => {
  const auth = { enabled: true };
  const off = { authentication: "Off", cluster: cluster({ dryRun: true, auth, ...claims } as object) } as const;
  expect(changeSteps(seen(three, off))).toMatchObject([
    { action: "EnableAuthentication", noReturn: expect.stringMatching(/cannot be turned off/) },
  ]);
  expect(plan(seen(three, off))).toMatchObject({
    kind: "wait",
    reason: expect.stringMatching(/1\. EnableAuthentication/),
  });
  expect(plan(seen(three, { ...off, cluster: cluster({ auth, ...claims } as object) }))).toMatchObject({
    action: "enableAuthentication",
  });
});

test("without an answer, the status says whether authentication is on", () => {
  const auth = { dryRun: true, auth: { enabled: true }, ...claims } as object;
  const members = [{ name: "a" }, { name: "b" }, { name: "c" }];
  const silent = { answers: false, listed: false, serves: true } as const;
  const withStatus = (status: object): readonly string[] =>
    lines(seen([a(silent), b(silent), c(silent)], { quorum: false, cluster: cluster(auth, { members, ...status }) }));
  expect(withStatus({})).toEqual(["EnableAuthentication"]);
  expect(withStatus({ auth: { rootSecret: "orders-root" } })).toEqual([]);
});

test("members that this process cannot reach are planned for by the status, while their pods are ready", () => {
  const silent = { answers: false, listed: false, serves: true, version: "3.5.15" } as const;
  const status = { leader: "b", members: [{ name: "a" }, { name: "b" }, { name: "c" }] };
  const upgrade = cluster({ dryRun: true, version: "3.5.16", ...claims }, status);
  const unreached = [a(silent), b(silent), c(silent)];
  const facts = { quorum: false, targetVersion: "3.5.16", cluster: upgrade };
  expect(lines(seen(unreached, facts))).toEqual([
    ...["RestartMember a", "RestartMember c", "SwitchLeader b", "RestartMember b"],
  ]);
  expect(hasKnownSteps(seen(unreached, facts))).toBe(true);
  expect(hasKnownSteps(seen([a(silent), b(silent), c({ ...silent, serves: false })], facts))).toBe(false);
  expect(hasKnownSteps(seen(three, { cluster: upgrade }))).toBe(true);
});
