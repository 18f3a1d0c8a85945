import type { StepFacts } from "setpoint";
import { expect, test } from "vitest";
import { degraded } from "../status/degraded.ts";
import { plan } from "./plan.ts";
import { a, b, c, nowMs, seen } from "./situation.fixture.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

const facts: StepFacts = { now: "2026-01-01T00:10:00Z", since: "2026-01-01T00:10:00Z" };
const text =
  "etcd reports corrupt data of b (alarm CORRUPT) and accepts no writes: compare the members, then replace that member or restore a backup";

/** All members report an alarm of one of them, whose ID is 42 in decimal. */
function alarmed(member: SeenMember, alarm: string): SeenMember {
  const { status } = member;
  if (status === undefined) return member;
  const memberId = member.name === "b" ? "2a" : status.memberId;
  return { ...member, listed: undefined, status: { ...status, memberId, errors: [`memberID:42 alarm:${alarm} `] } };
}

function situation(alarm: string): Situation {
  return seen(
    [a(), b(), c()].map((member) => alarmed(member, alarm)),
    // etcd's health check fails with the alarm, so no quorum answers.
    { quorum: alarm !== "CORRUPT" },
  );
}

test("a cluster with the alarm CORRUPT names the member, and nothing is done to it", () => {
  expect(plan(situation("CORRUPT"), nowMs)).toMatchObject({ kind: "wait", reason: text });
  expect(degraded(situation("CORRUPT"), "Recovering", facts)).toMatchObject({
    status: "True",
    reason: "Corrupt",
    message: text,
  });
});

test("the alarm NOSPACE is no corruption", () => {
  expect(degraded(situation("NOSPACE"), "Running", facts)).toMatchObject({ reason: "Alarm" });
});
