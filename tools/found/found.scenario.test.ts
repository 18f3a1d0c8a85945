import { expect, test } from "vitest";
import { foundSchedules } from "../../operators/etcd/src/testing/found-schedules.ts";
import { Judge } from "./judge.ts";

test.each(foundSchedules)("would still be found: $name", async (schedule) => {
  await using judge = new Judge(schedule.without);
  // Another order of requests may have moved the moment that it is about: `npm run found -- --derive 60`
  // looks for the new one.
  expect(await judge.judge(schedule)).toEqual({ hasStruck: true, broken: expect.any(String) });
});

test("an edit that has no place in its file is refused", async () => {
  const [schedule] = foundSchedules;
  const file = "operators/etcd/src/act/actions.ts";
  await using judge = new Judge([{ file, from: "what is not there", to: "" }]);
  await expect(judge.judge(schedule as (typeof foundSchedules)[number])).rejects.toThrow(
    `Cannot take a fix out of ${file}: "what is not there" stands there 0 times, expected once`,
  );
});

test("an edit of a file that is never loaded is refused", async () => {
  const [schedule] = foundSchedules;
  const file = "operators/etcd/src/act/moved.ts";
  await using judge = new Judge([{ file, from: "a", to: "b" }]);
  await expect(judge.judge(schedule as (typeof foundSchedules)[number])).rejects.toThrow(
    `Cannot take a fix out of ${file}: no such file is loaded`,
  );
});
