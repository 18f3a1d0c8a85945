import { expect, test } from "vitest";
import { cleanStopMs } from "../instance/instance-protocol.ts";
import { ServerFence } from "./server-fence.ts";

/** A fence whose server ends by nothing, and what it was asked so far. */
function fenceAt() {
  const asked: string[] = [];
  const time = { nowMs: 0 };
  const fence = new ServerFence({
    clock: { monotonic: () => time.nowMs },
    server: { requestStop: (mode) => void asked.push(mode), kill: () => void asked.push("kill") },
    complain: () => {},
  });
  const stop = (atMs: number, isDeposed: boolean): readonly string[] => {
    time.nowMs = atMs;
    fence.stop("it may not", isDeposed);
    return asked.splice(0);
  };
  return { fence, stop };
}

test("a server without a lease stops at once, and is killed when it does not", () => {
  const { stop } = fenceAt();
  expect(stop(0, false)).toEqual(["immediate"]);
  expect(stop(900, false)).toEqual(["immediate"]);
  expect(stop(1_000, false)).toEqual(["immediate", "kill"]);
});

test("a server that was deposed has time to hand over", () => {
  const { fence, stop } = fenceAt();
  fence.serverAnswered();
  expect(stop(0, true)).toEqual(["fast"]);
  expect(stop(4_900, true)).toEqual(["fast"]);
});

test("a server that was deposed and never answered has that time, too", () => {
  const { stop } = fenceAt();
  stop(0, true);
  expect(stop(cleanStopMs - 1, true)).toEqual(["fast"]);
  expect(stop(cleanStopMs, true)).toEqual(["immediate"]);
});

test("a server that hangs is killed", () => {
  const { fence, stop } = fenceAt();
  fence.serverAnswered();
  expect(stop(5_000, true)).toEqual(["immediate"]);
  expect(stop(6_000, true)).toEqual(["immediate", "kill"]);
});
