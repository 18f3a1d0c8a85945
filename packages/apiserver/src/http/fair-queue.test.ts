import type { Clock } from "@setpoint/host";
import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const nextLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A loop that turns when it is asked to, and work that takes time. */
class Loop {
  nowMs = 0;
  readonly done: string[] = [];
  #deferred: (() => void)[] = [];
  readonly queue: FairQueue;

  constructor() {
    const clock: Pick<Clock, "monotonic" | "defer"> = {
      monotonic: () => this.nowMs,
      defer: (callback) => void this.#deferred.push(callback),
    };
    // The queue needs no more of a clock.
    this.queue = new FairQueue(clock as Clock);
  }

  ask(user: string, name: string, ms: number): Promise<void> {
    return this.queue.run(user, async () => {
      this.nowMs += ms;
      this.done.push(name);
    });
  }

  async turn(): Promise<readonly string[]> {
    const before = this.done.length;
    const due = this.#deferred;
    this.#deferred = [];
    for (const callback of due) callback();
    await nextLoopTurn();
    return this.done.slice(before);
  }
}

test("a request is handled at once while the turn has time left, and waits for the next when it has none", async () => {
  const loop = new Loop();
  void loop.ask("a", "a1", 5);
  void loop.ask("a", "a2", 5);
  void loop.ask("a", "a3", 1);
  await nextLoopTurn();
  expect(loop.done).toEqual(["a1", "a2"]);
  expect(await loop.turn()).toEqual(["a3"]);
});

test("a user who comes after another's flood is handled in the next turn", async () => {
  const loop = new Loop();
  for (let i = 0; i < 50; i++) void loop.ask("flood", `f${i}`, 4);
  void loop.ask("other", "o1", 1);
  await nextLoopTurn();
  await loop.turn();
  expect(loop.done).toContain("o1");
  expect(loop.done.length).toBeLessThan(10);
});

test("users with the same wishes get the same time, whatever one request costs", async () => {
  const loop = new Loop();
  void loop.ask("first", "-", 10);
  for (let i = 0; i < 100; i++) {
    void loop.ask("small", "s", 1);
    void loop.ask("large", "l", 4);
  }
  for (let i = 0; i < 10; i++) await loop.turn();
  const small = loop.done.filter((name) => name === "s").length;
  const large = loop.done.filter((name) => name === "l").length * 4;
  expect(small / large).toBeGreaterThan(0.5);
  expect(small / large).toBeLessThan(2);
});

test("an error of the work is the caller's, and the next request is handled", async () => {
  const loop = new Loop();
  void loop.ask("a", "a1", 10);
  const failing = expect(loop.queue.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  void loop.ask("a", "a2", 1);
  await loop.turn();
  await loop.turn();
  await failing;
  expect(loop.done).toEqual(["a1", "a2"]);
});

test("work behind ready promises counts for the user who asked for it", async () => {
  const loop = new Loop();
  for (let i = 0; i < 4; i++)
    void loop.queue.run("a", async () => {
      for (let step = 0; step < 20; step++) await Promise.resolve();
      loop.nowMs += 5;
      loop.done.push(`a${i}`);
    });
  await nextLoopTurn();
  expect(loop.done).toEqual(["a0", "a1"]);
});
