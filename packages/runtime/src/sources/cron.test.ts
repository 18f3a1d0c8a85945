import { simulatedHost } from "@setpoint/host/simulated";
import type { Clock } from "@setpoint/host";
import { expect, test } from "vitest";
import { CronSchedule, nextCronRun } from "./cron-schedule.ts";
import { cron } from "./cron.ts";
import type { SourcePorts } from "../controller/source.ts";

const hour = 3_600_000;
const day = 24 * hour;
const at = (text: string): number => Date.parse(text);
const isoOf = (ms: number): string => new Date(ms).toISOString();

test("a cron line is due at its next moment, in its time zone", () => {
  expect(isoOf(nextCronRun("0 3 * * *", at("2026-05-01T03:00:00Z")))).toBe("2026-05-02T03:00:00.000Z");
  expect(isoOf(nextCronRun("0 3 * * *", at("2026-05-01T00:00:00Z"), { timeZone: "Europe/Berlin" }))).toBe(
    "2026-05-01T01:00:00.000Z",
  );
  expect(isoOf(nextCronRun("@daily", at("2026-05-01T00:00:00Z")))).toBe("2026-05-02T00:00:00.000Z");
});

test("an hour that summer time leaves out fires after it, and one that comes twice fires once", () => {
  const berlin = new CronSchedule("30 2 * * *", { timeZone: "Europe/Berlin" });
  expect(isoOf(berlin.nextAfter(at("2026-03-28T12:00:00Z")))).toBe("2026-03-29T01:00:00.000Z");
  const first = berlin.nextAfter(at("2026-10-24T12:00:00Z"));
  expect(isoOf(first)).toBe("2026-10-25T00:30:00.000Z");
  expect(isoOf(berlin.nextAfter(first))).toBe("2026-10-26T01:30:00.000Z");
});

test.each([
  ["0 0 30 2 *", "it never fires: no date has such a day"],
  ["0 0 31 4,6,9,11 *", "it never fires"],
  ["61 * * * *", "Invalid value for minute: 61"],
  ["* * *", "five"],
  ["2030-01-01T00:00:00Z", "it has one field; expected five"],
  ["2030-01-01 00:00:00", "it has 2 fields; expected five"],
  ["0\t3 * * * *", "its fields are separated by spaces alone"],
])("the cron line %s is refused when the source is made", (line, problem) => {
  expect(() => cron(line)).toThrow(`Cannot use cron line "${line}": `);
  expect(() => cron(line)).toThrow(problem);
});

test("an unknown time zone is refused by its name", () => {
  expect(() => cron("0 3 * * *", { timeZone: "Mars/Base" })).toThrow('time zone "Mars/Base" is not known');
});

/** Runs a cron line on a wall clock that can be set; returns when it fired, by the monotonic clock. */
function follow(line: string) {
  const host = simulatedHost(1);
  let offsetMs = 0;
  const fired: number[] = [];
  const stopper = new AbortController();
  const clock: Clock = {
    ...{ setTimer: host.clock.setTimer.bind(host.clock), defer: host.clock.defer.bind(host.clock) },
    monotonic: () => host.clock.monotonic(),
    now: () => host.clock.now() + offsetMs,
  };
  const ports = {
    ...{ clock, random: host.random, log: host.log, signal: stopper.signal, works: () => {} },
    cache: { get: () => undefined, list: () => [{ metadata: { name: "x" } }] },
    kind: {},
    wake: () => fired.push(host.clock.monotonic()),
  };
  const ended = cron(line)
    .run(ports as unknown as SourcePorts)
    .catch(() => {});
  const stop = async (): Promise<void> => {
    stopper.abort();
    await host.clock.settle();
    await ended;
  };
  return { host, fired, stop, setClock: (byMs: number) => void (offsetMs += byMs) };
}

test("a daily line fires once a day at its moment", async () => {
  const { host, fired, stop } = follow("0 3 * * *");
  await host.clock.run(3 * day);
  expect(fired).toEqual([3 * hour, day + 3 * hour, 2 * day + 3 * hour]);
  await stop();
});

test("moments that were missed while the machine slept fire once together", async () => {
  const { host, fired, stop, setClock } = follow("0 * * * *");
  await host.clock.run(hour / 2);
  setClock(5 * hour);
  await host.clock.run(hour / 4);
  expect(fired.length).toBe(1);
  await host.clock.run(hour / 2);
  expect(fired.length).toBe(2);
  await stop();
});

test("a clock that is set back lets no moment fire twice", async () => {
  const { host, fired, stop, setClock } = follow("0 * * * *");
  await host.clock.run(2 * hour + hour / 2);
  expect(fired.length).toBe(2);
  setClock(-2 * hour);
  await host.clock.run(2 * hour);
  expect(fired.length).toBe(2);
  await host.clock.run(hour);
  expect(fired.length).toBe(3);
  await stop();
});

test("a clock that was wrong by years does not silence a line for years", async () => {
  const { host, fired, stop, setClock } = follow("0 * * * *");
  setClock(1_000 * day);
  await host.clock.run(2 * hour);
  setClock(-1_000 * day);
  const before = fired.length;
  await host.clock.run(2 * hour);
  expect(fired.length).toBeGreaterThan(before);
  await stop();
});
