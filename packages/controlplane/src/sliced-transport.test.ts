import type { Transport, WatchFrame } from "@setpoint/apimachinery";
import { systemClock } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { slicedTransport } from "./sliced-transport.ts";

/** How often something else in the process has had its turn while `work` ran. */
async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

const request = { method: "GET", path: "/api" } as const;
const workMs = 200;

test("a client that asks again and again without waiting for anything leaves everything else its turns", async () => {
  const inner: Transport = { send: async () => ({ kind: "object", status: 200, headers: {}, object: {} }) };
  const askFor = async (transport: Transport): Promise<void> => {
    const endMs = systemClock.monotonic() + workMs;
    while (systemClock.monotonic() < endMs) await transport.send(request);
  };
  expect(await turnsDuring(() => askFor(inner))).toBe(0);
  expect(await turnsDuring(() => askFor(slicedTransport(inner, systemClock)))).toBeGreaterThan(2);
});

test("several clients that never wait leave everything else its turns, too", async () => {
  const inner: Transport = { send: async () => ({ kind: "object", status: 200, headers: {}, object: {} }) };
  const transport = slicedTransport(inner, systemClock);
  const endMs = systemClock.monotonic() + workMs;
  const ask = async (): Promise<void> => {
    while (systemClock.monotonic() < endMs) await transport.send(request);
  };
  expect(await turnsDuring(async () => void (await Promise.all([ask(), ask(), ask()])))).toBeGreaterThan(2);
});

test("the frames of a watch that never runs dry leave everything else its turns, and it can be left", async () => {
  let isLeft = false;
  async function* endless(): AsyncGenerator<WatchFrame> {
    try {
      for (;;) yield { type: "BOOKMARK", object: {} };
    } finally {
      isLeft = true;
    }
  }
  const inner: Transport = { send: async () => ({ kind: "watch", status: 200, headers: {}, frames: endless() }) };
  const endMs = systemClock.monotonic() + workMs;
  const turns = await turnsDuring(async () => {
    const answer = await slicedTransport(inner, systemClock).send(request);
    if (answer.kind !== "watch") throw new Error("expected a watch");
    for await (const _frame of answer.frames) if (systemClock.monotonic() > endMs) break;
  });
  expect(turns).toBeGreaterThan(2);
  expect(isLeft).toBe(true);
});
