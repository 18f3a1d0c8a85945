import { CronJob, Job } from "@setpoint/api";
import { simulate } from "@setpoint/testing";
import { expect, test } from "vitest";

test("a CronJob makes a Job at each time of its schedule, and shows which run", async () => {
  await using world = await simulate({ seed: 1 });
  const containers = [{ name: "main", image: "work:1" }];
  const jobTemplate = { spec: { template: { spec: { restartPolicy: "Never" as const, containers } } } };
  await world.apply(CronJob({ name: "night", namespace: "default", spec: { schedule: "*/10 * * * *", jobTemplate } }));
  await world.until("two Jobs run", async () => (await world.list(Job)).length === 2, { within: 1_500_000 });
  const { status } = await world.get(CronJob, "night");
  const names = (await world.list(Job)).map(({ metadata }) => metadata.name).toSorted();
  expect(status?.active?.map(({ name }) => name)).toEqual(names);
  expect(new Set(names.map((name) => Number(name.replace("night-", "")) % 10))).toEqual(new Set([0]));
  await world.patch(CronJob, "night", { spec: { suspend: true } });
  await world.run(5_000);
  await world.expectQuiet({ hours: 1 });
});
