import { PassThrough } from "node:stream";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { bodyMsMax, readBody, requestBytesMax } from "./read-body.ts";

const clock = new VirtualClock(seededRandom(1));
const limits = { clock, contentLength: undefined, take: () => undefined };

test("a body that does not come in time is 408", async () => {
  const reading = readBody(new PassThrough(), limits);
  await expect(clock.wait(reading, bodyMsMax + 1)).rejects.toMatchObject({ code: 408 });
});

test("a body that says it is too large is refused before any of it has come", async () => {
  const reading = readBody(new PassThrough(), { ...limits, contentLength: String(requestBytesMax + 1) });
  await expect(reading).rejects.toMatchObject({ code: 413 });
});

test("a body for which there is no room is refused as soon as that is known", async () => {
  const input = new PassThrough();
  const take = (): void => {
    throw new Error("no room");
  };
  input.write("x");
  await expect(readBody(input, { ...limits, take })).rejects.toThrow("no room");
  expect(input.listenerCount("data")).toBe(0);
});

test("the whole body is read and counted", async () => {
  const input = new PassThrough();
  let taken = 0;
  const reading = readBody(input, { ...limits, take: (bytes) => void (taken += bytes) });
  input.write("abc");
  input.end("de");
  expect(String(await reading)).toBe("abcde");
  expect(taken).toBe(5);
});
