import type { WatchFrame } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { FrameQueue } from "./frame-queue.ts";

const frame = (name: string): WatchFrame => ({ type: "MODIFIED", object: { metadata: { name } } });

test("a queue whose reader is behind by more bytes than allowed is cut, and holds nothing", async () => {
  let closed = 0;
  const queue = new FrameQueue(() => closed++, 1_000);
  for (let i = 0; i < 10; i++) queue.push(frame(`n${i}`), 100);
  expect(queue.isEnded).toBe(false);
  queue.push(frame("one more"), 100);
  expect([queue.isEnded, closed]).toEqual([true, 1]);
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});

test("what was read does not count, nor does the state at the beginning", async () => {
  const queue = new FrameQueue(() => {}, 1_000);
  queue.pushAll(Array.from({ length: 100 }, (_, i) => frame(`s${i}`)));
  for (let i = 0; i < 100; i++) await queue.next();
  for (let i = 0; i < 100; i++) {
    queue.push(frame(`n${i}`), 600);
    expect((await queue.next()).value).toEqual(frame(`n${i}`));
  }
  expect(queue.isEnded).toBe(false);
});
