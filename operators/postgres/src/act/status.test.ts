import { rest } from "setpoint";
import { expect, test } from "vitest";
import { act } from "../plan/postgres-step.ts";
import { cluster, primary, replica, seen } from "../plan/situation.fixture.ts";
import type { Seen } from "../seen/seen.ts";
import { postgresStatus } from "./status.ts";

const [a, b] = ["orders-1", "orders-2"] as const;
const facts = { now: "2026-01-01T00:00:00Z", since: "2026-01-01T00:00:00Z" };
const statusOf = (snapshot: Seen, step: Parameters<typeof postgresStatus>[1] = rest(1_000)): object =>
  postgresStatus(snapshot, step, facts);

test("the timeline of a stopped instance stays in the status: a restore in place begins a newer one", () => {
  const running = seen([primary(a, { report: { timeline: 4 } }), replica(b, { report: { timeline: 4 } })]);
  const { members } = postgresStatus(running, rest(1_000), facts);
  expect(members.map(({ timeline }) => timeline)).toEqual([4, 4]);
  const stopped = seen([primary(a, { pod: "missing" }), replica(b, { pod: "missing" })], {
    cluster: cluster({}, { members: [...members] }),
  });
  expect(postgresStatus(stopped, rest(1_000), facts).members.map(({ timeline }) => timeline)).toEqual([4, 4]);
});

test("the status names who is deposed and who takes over before it happens", () => {
  const running = seen([primary(a), replica(b)], { memory: { since: {}, lastPosition: "0/7", lastTimeline: 2 } });
  const depose = act("depose", { primary: a, handover: "switchover", candidate: b }, "asked");
  expect(statusOf(running, depose)).toMatchObject({
    phase: "SwitchingOver",
    formerPrimary: a,
    candidate: b,
    handover: "switchover",
    term: 4,
    lastPosition: "0/7",
    lastTimeline: 2,
  });
  expect(statusOf(running, depose)).not.toHaveProperty("primary");

  const between = { primary: undefined, formerPrimary: a, term: 4, handover: "switchover", candidate: b } as const;
  const handing = seen([replica(a), replica(b)], { cluster: cluster({}, between) });
  const appointed = statusOf(handing, act("appoint", { primary: b }, "has all"));
  expect(appointed).toMatchObject({
    primary: b,
    formerPrimary: a,
    term: 4,
    lastSwitchover: { from: a, to: b, at: facts.now, request: b },
  });
  expect(appointed).not.toHaveProperty("handover");

  const taken = cluster({}, { primary: b, formerPrimary: a, lastServing: a });
  expect(statusOf(seen([replica(a), replica(b)], { cluster: taken }))).toMatchObject({ lastServing: a });
  const inOffice = seen([replica(a), primary(b)], { cluster: taken });
  expect(statusOf(inOffice)).not.toHaveProperty("formerPrimary");
  expect(statusOf(inOffice)).toMatchObject({ lastServing: b });
});

test("a failover whose new primary dies before it serves is from the one that served, with its loss", () => {
  const between = {
    primary: undefined,
    formerPrimary: b,
    lastServing: a,
    handover: "failover",
    lastPosition: "0/7",
    lastFailover: { from: a, to: b, at: facts.now, reason: "gone", lostAtMost: "8 bytes of the log" },
  } as const;
  const handing = seen([primary(a, { pod: "ended" }), replica(b)], { cluster: cluster({}, between) });
  const again = act("appoint", { primary: b, lostAtMost: "8 bytes of the log" }, "has most");
  expect(postgresStatus(handing, again, facts).lastFailover).toMatchObject({
    from: a,
    to: b,
    lostAtMost:
      "8 bytes of the log, and what orders-2 committed, if it was promoted, and what orders-1 committed after 0/7",
  });
});

test("the timeline that an appointed replica begins counts before it reports it", () => {
  const between = { primary: undefined, formerPrimary: a, handover: "failover", lastTimeline: 4 } as const;
  const handing = seen([primary(a, { pod: "ended" }), replica(b, { report: { timeline: 4 } })], {
    cluster: cluster({}, between),
  });
  expect(statusOf(handing, act("appoint", { primary: b }, "has all"))).toMatchObject({ lastTimeline: 5 });
  // A former primary that is appointed again goes on with its own.
  expect(statusOf(handing, act("appoint", { primary: a }, "has the data"))).toMatchObject({ lastTimeline: 4 });

  const unheard = seen([replica(a), replica(b)], {
    cluster: cluster({}, { primary: b, lastTimeline: 5 }),
    memory: { since: {}, lastTimeline: 4 },
  });
  const depose = act("depose", { primary: b, handover: "failover" }, "gone");
  expect(statusOf(unheard, depose)).toMatchObject({ lastTimeline: 5 });
});

test.each([
  [{}, undefined, "what orders-1 committed after 0/7"],
  [{}, "1024 bytes of the log", "1024 bytes of the log, and what orders-1 committed after 0/7"],
  [{ synchronous: { number: 1, durability: "required" } } as const, undefined, undefined],
])("with %j and a lag of %s a failover may have lost: %s", (spec, lostAtMost, expected) => {
  const between = { primary: undefined, formerPrimary: a, handover: "failover", lastPosition: "0/7" } as const;
  const handing = seen([primary(a, { pod: "ended" }), replica(b)], { cluster: cluster(spec, between) });
  const appoint = act("appoint", { primary: b, ...(lostAtMost === undefined ? {} : { lostAtMost }) }, "has most");
  const { lastFailover } = postgresStatus(handing, appoint, facts);
  expect(lastFailover?.to).toBe(b);
  expect(lastFailover?.lostAtMost).toBe(expected);
});
