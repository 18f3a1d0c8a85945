import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Questions } from "./questions.ts";

const deadlineMs = 2_000;

interface Setting {
  readonly clock: VirtualClock;
  /** How long each answer takes; none comes after the deadline. */
  readonly answersMs: Record<string, number>;
  readonly count: (uid: string) => number;
  /** Who has answered, and how long that took. */
  readonly observe: () => Promise<{ readonly names: readonly string[]; readonly tookMs: number }>;
}

function setting(answersMs: Record<string, number>): Setting {
  const clock = new VirtualClock(seededRandom(1));
  const questions = new Questions();
  const asked: string[] = [];
  const ask = async (uid: string): Promise<string> => {
    asked.push(uid);
    const ms = answersMs[uid] ?? Number.POSITIVE_INFINITY;
    await new Promise<void>((resolve, reject) => {
      const end = ms > deadlineMs ? () => reject(new Error("no answer")) : resolve;
      clock.setTimer(end, Math.min(ms, deadlineMs));
    });
    return uid;
  };
  return {
    clock,
    answersMs,
    count: (uid) => asked.filter((each) => each === uid).length,
    observe: async () => {
      const startMs = clock.monotonic();
      const all = Object.keys(answersMs).map((uid) => ({ uid, ask: () => ask(uid) }));
      const answers = await clock.wait(questions.ask(all, clock));
      return { names: [...answers.keys()].toSorted(), tookMs: clock.monotonic() - startMs };
    },
  };
}

const silent = Number.POSITIVE_INFINITY;

test("Questions.ask() waits once until the deadline for an instance that is silent, and then no more", async () => {
  const { observe, count } = setting({ a: silent, b: 10, c: 10 });
  expect(await observe()).toEqual({ names: ["b", "c"], tookMs: deadlineMs });
  expect(await observe()).toEqual({ names: ["b", "c"], tookMs: 300 });
  expect(await observe()).toEqual({ names: ["b", "c"], tookMs: 10 });
  expect(count("a")).toBe(2);
});

test("Questions.ask() takes the answer of an instance that is back at once", async () => {
  const { observe, answersMs } = setting({ a: silent, b: 10 });
  await observe();
  answersMs["a"] = 20;
  expect(await observe()).toEqual({ names: ["a", "b"], tookMs: 20 });
  answersMs["a"] = 1_000;
  expect(await observe()).toEqual({ names: ["a", "b"], tookMs: 1_000 });
});

test("Questions.ask() waits for an instance that has answered late", async () => {
  const { observe, answersMs, clock } = setting({ a: silent, b: 10 });
  await observe();
  answersMs["a"] = 900;
  expect(await observe()).toEqual({ names: ["b"], tookMs: 300 });
  await clock.run(1_000);
  expect(await observe()).toEqual({ names: ["a", "b"], tookMs: 900 });
});

test("Questions.ask() asks no second time while a question goes on", async () => {
  const { observe, count, clock } = setting({ a: silent, b: 10 });
  await observe();
  await observe();
  await observe();
  expect(count("a")).toBe(2);
  await clock.run(deadlineMs);
  await observe();
  expect(count("a")).toBe(3);
});
