import { expect, test } from "vitest";
import { electPrimary, type MemberRole } from "./roles.ts";

const compare = (a: string, b: string): number => Number(a) - Number(b);
const replica = (name: string, received: string, more: Partial<MemberRole> = {}): MemberRole => ({
  ...{ name, role: "replica", timeline: 1, received, replayed: received },
  ...more,
});
const election = { compare, members: 3, copies: 1 };

test.each<[string, readonly MemberRole[], number, object]>([
  ["the longest log wins", [replica("a", "9"), replica("b", "10")], 1, { member: "b" }],
  [
    "of equal logs, the one that has applied more",
    [replica("a", "9", { replayed: "8" }), replica("b", "9")],
    1,
    { member: "b" },
  ],
  ["of equal members, the first name", [replica("b", "9"), replica("a", "9")], 1, { member: "a" }],
  [
    "a longer log of an older history loses",
    [replica("a", "20"), replica("b", "10", { timeline: 2 })],
    1,
    { member: "b" },
  ],
  ["nobody answers", [], 1, { refusal: "no replica of the newest timeline answers" }],
  ["two copies, and two are heard", [replica("a", "9"), replica("b", "10")], 2, { member: "b" }],
  [
    "two copies, and one is heard: the other may have more",
    [replica("a", "9")],
    2,
    { refusal: expect.stringContaining("2 are needed") },
  ],
])("electPrimary: %s", (_, heard, copies, expected) => {
  expect(electPrimary(heard, { ...election, copies })).toEqual(expected);
});
