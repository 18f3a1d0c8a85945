import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Participant } from "./participant.ts";
import { ProcessClock } from "./process-clock.ts";
import { Trace } from "./trace.ts";

test.each([
  ["an answer", () => Promise.resolve("yes")],
  ["an error", () => Promise.reject(new Error("no"))],
])("%s that comes while a process is paused is heard when it goes on", async (_, send) => {
  const host = simulatedHost(1);
  const clock = new ProcessClock(host.clock);
  const trace = new Trace();
  const who = new Participant({ name: "a", clock: host.clock, random: host.random, trace });
  const link = who.process(() => {}, clock);
  let isHeard = false;
  clock.pause();
  const heard = link.call("something", "look", send).finally(() => (isHeard = true));
  heard.catch(() => {});
  await host.clock.run(1_000);
  expect(trace.entries.length).toBe(1);
  expect(isHeard).toBe(false);
  clock.resume();
  await host.clock.run(0);
  expect(isHeard).toBe(true);
});

test.each([
  ["rejects", () => Promise.reject(new Error("no"))],
  [
    "throws at once",
    () => {
      throw new Error("no");
    },
  ],
])("a call that %s is in the trace, with its error", async (_, send) => {
  const host = simulatedHost(1);
  const trace = new Trace();
  const who = new Participant({ name: "a", clock: host.clock, random: host.random, trace });
  await expect(host.clock.wait(who.process().call("something", "look", send))).rejects.toThrow("no");
  expect(trace.entries).toMatchObject([{ what: "something", outcome: "no" }]);
});
