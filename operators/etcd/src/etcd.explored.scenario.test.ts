/** What random schedules have found goes well since. That each would still be found, tools/found shows. */
import { replaySchedule } from "setpoint/testing";
import { expect, test } from "vitest";
import { etcdSetting } from "./testing/etcd-setting.ts";
import { options, worlds } from "./testing/etcd-worlds.ts";
import { foundSchedules } from "./testing/found-schedules.ts";

test.each(foundSchedules)("$name", async ({ story, seed, faults }) => {
  const report = await replaySchedule(etcdSetting, { ...options, worlds }, JSON.stringify({ seed, story, faults }));
  expect(report.broken).toEqual([]);
  // A schedule whose sites are not met any more proves nothing.
  expect(report.struck.map(({ fault }) => fault)).toEqual(faults);
});
