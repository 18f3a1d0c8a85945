import { isApiError, type UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { bodyBytesMax, bodyBytesOfUserMax, requestsOfUserMax, streamsOfUserMax, UserLimits } from "./user-limits.ts";

const user = (username: string, ...groups: string[]): UserInfo => ({ username, groups });

function codeOf(act: () => unknown): number {
  try {
    act();
    return 200;
  } catch (error) {
    if (isApiError(error)) return error.code;
    throw error;
  }
}

test("a user has so many requests and so many streams; another user has as many", () => {
  const limits = new UserLimits();
  const entries = Array.from({ length: requestsOfUserMax }, () => limits.enter(user("a"), false));
  expect(codeOf(() => limits.enter(user("a"), false))).toBe(429);
  expect(codeOf(() => limits.enter(user("b"), false))).toBe(200);
  for (let i = 0; i < streamsOfUserMax; i++) limits.enter(user("a"), true);
  expect(codeOf(() => limits.enter(user("a"), true))).toBe(429);
  entries[0]?.leave();
  entries[0]?.leave();
  expect(codeOf(() => limits.enter(user("a"), false))).toBe(200);
  expect(codeOf(() => limits.enter(user("a"), false))).toBe(429);
});

test.each([
  ["an administrator", user("admin", "system:masters"), 200],
  ["the agent of a node", user("system:node:a", "system:nodes"), 200],
  ["a user who is called like one", user("system:node:a"), 429],
])("%s beyond the limit", (_, holder, code) => {
  const limits = new UserLimits();
  for (let i = 0; i < requestsOfUserMax; i++) limits.enter(holder, false);
  expect(codeOf(() => limits.enter(holder, false))).toBe(code);
});

test("bodies of one user take a share of the memory, those of all users no more than there is", () => {
  const limits = new UserLimits();
  const first = limits.enter(user("a"), false);
  first.takeBytes(bodyBytesOfUserMax);
  expect(codeOf(() => limits.enter(user("a"), false).takeBytes(1))).toBe(429);
  for (let taken = bodyBytesOfUserMax, i = 0; taken < bodyBytesMax; taken += bodyBytesOfUserMax, i++)
    limits.enter(user(`b${i}`), false).takeBytes(bodyBytesOfUserMax);
  const admin = limits.enter(user("admin", "system:masters"), false);
  expect(codeOf(() => admin.takeBytes(1))).toBe(429);
  first.leave();
  expect(codeOf(() => admin.takeBytes(1))).toBe(200);
});
