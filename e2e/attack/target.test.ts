import { expect, test } from "vitest";
import { Target } from "./target.ts";

test("a client without rights is refused, and the bystander is served", async () => {
  await using target = await Target.start();
  await using bystander = target.bystander(10);
  const { status } = await target.raw({ path: "/api/v1/namespaces/default/secrets" });
  expect(status).toBe(403);
  await expect.poll(() => bystander.latenciesMs.length).toBeGreaterThan(3);
  expect(bystander.failures).toEqual([]);
  expect(target.isRunning).toBe(true);
});
