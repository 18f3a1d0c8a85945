/** A table of what a user asks for, and which members are kept stopped. */
import { expect, test } from "vitest";
import { decideFencing, fencedText, fencingCondition, fencingRecord, type SeenFencing } from "./decide-fencing.ts";

const voter = (name: string, healthy = true): SeenFencing["members"][number] => ({ name, votes: true, healthy });
const sick = (name: string): SeenFencing["members"][number] => voter(name, false);
const learner = (name: string): SeenFencing["members"][number] => ({ name, votes: false, healthy: true });
const needed = (name: string): SeenFencing["members"][number] => ({ ...voter(name), needed: "it is the primary" });
const three = [voter("a"), voter("b"), voter("c")];
const five = [...three, voter("d"), voter("e")];

function seen(members: SeenFencing["members"], asked: readonly string[], more: object = {}): SeenFencing {
  const quorum = Math.floor(members.filter(({ votes }) => votes).length / 2) + 1;
  return { wanted: { members: asked, allowQuorumLoss: false, ...more }, recorded: undefined, members, quorum };
}

/** Recorded as fenced by an earlier pass. */
function after(fenced: readonly string[], now: SeenFencing): SeenFencing {
  const members = fenced.map((name) => ({ name, state: "Stopped", since: "2026-01-01T00:00:00Z" }) as const);
  return { ...now, recorded: { members } };
}

const allowed = { allowQuorumLoss: true };

test.each<[situation: string, SeenFencing, fenced: string, refused: string]>([
  ["nobody asks", { ...seen(three, []), wanted: undefined }, "", ""],
  ["one of three", seen(three, ["b"]), "b", ""],
  ["one of three, named twice", seen(three, ["b", "b"]), "b", ""],
  ["two of three: the second would end the quorum", seen(three, ["b", "c"]), "b", "c"],
  ["two of three, allowed", seen(three, ["b", "c"], allowed), "b c", ""],
  ["two of five", seen(five, ["b", "c"]), "b c", ""],
  ["all, without permission: as many as the quorum can do without", seen(five, ["*"]), "a b", "c d e"],
  ["all, allowed", seen(three, ["*"], allowed), "a b c", ""],
  ["the only one", seen([voter("a")], ["a"]), "", "a"],
  ["one that clients need", seen([needed("a"), voter("b"), voter("c")], ["a", "b"]), "b", "a"],
  ["one that clients need, allowed", seen([needed("a"), voter("b"), voter("c")], ["a"], allowed), "a", ""],
  ["nobody of that name", seen(three, ["x"]), "", "x"],
  ["a learner has no vote", seen([...three, learner("l")], ["l", "b"]), "l b", ""],
  ["another one is ill: the quorum would end", seen([voter("a"), voter("b"), sick("c")], ["b"]), "", "b"],
  ["it is ill itself: nothing ends", seen([voter("a"), voter("b"), sick("c")], ["c"]), "c", ""],
  ["the quorum is lost already", seen([voter("a"), sick("b"), sick("c")], ["a"]), "a", ""],
  [
    "fenced before: an illness of others releases nobody",
    after(["b"], seen([voter("a"), sick("b"), sick("c")], ["b"])),
    "b",
    "",
  ],
  ["fenced before with permission, which is gone", after(["b", "c"], seen(three, ["b", "c"])), "b c", ""],
  ["fenced before: it counts first", after(["c"], seen(three, ["b", "c"])), "c", "b"],
  ["fenced before, and no member any more", after(["x"], seen(three, ["x"])), "", "x"],
  ["released", after(["b"], seen(three, [])), "", ""],
  ["blocked", { ...seen(three, ["b"]), blocked: "a restore is in progress" }, "", "b"],
  [
    "blocked after it was fenced",
    { ...after(["b"], seen(three, ["b"])), blocked: "a restore is in progress" },
    "b",
    "",
  ],
])("%s", (_, situation, fenced, refused) => {
  const decision = decideFencing(situation);
  expect(decision.fenced.join(" ")).toBe(fenced);
  expect(decision.refused.map(({ member }) => member).join(" ")).toBe(refused);
});

test("a refusal says what would be left, or which members there are", () => {
  const { refused } = decideFencing(seen(three, ["b", "c", "x"]));
  expect(refused).toEqual([
    {
      member: "c",
      reason:
        "1 of 3 voting members would be left, and the quorum is 2; set spec.fencing.allowQuorumLoss to true to fence it anyway",
    },
    { member: "x", reason: "it is not a member; members: a, b, c" },
  ]);
});

test("the status keeps since when a member is fenced", () => {
  const facts = { now: "2026-01-02T00:00:00Z", isStopped: (name: string) => name === "b" };
  const situation = after(["b"], seen(five, ["b", "c"]));
  expect(fencingRecord(decideFencing(situation), situation.recorded, facts)).toEqual({
    members: [
      { name: "b", state: "Stopped", since: "2026-01-01T00:00:00Z" },
      { name: "c", state: "Stopping", since: "2026-01-02T00:00:00Z" },
    ],
  });
});

test("the condition Fenced names fenced and refused members", () => {
  expect(fencingCondition({ fenced: [], refused: [] })).toMatchObject({ status: "False", reason: "NotFenced" });
  const decision = { fenced: ["a", "b"], refused: [{ member: "x", reason: "it is not a member; members: a, b" }] };
  expect(fencedText(decision)).toMatch(/^members a and b are fenced; /);
  expect(fencingCondition(decision)).toMatchObject({ status: "True", reason: "MembersFenced" });
  expect(fencingCondition(decision).message).toContain('cannot fence "x": it is not a member');
});
