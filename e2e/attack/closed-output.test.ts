/** The reader of the server's output goes away: a terminal that is closed, a log collector that ends. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { Target } from "./target.ts";

test("a server whose output nobody reads any more serves on, and ends in order", async () => {
  await using target = await Target.start();
  const { process: child } = target;
  child.stdout?.destroy();
  child.stderr?.destroy();
  // A signal that it reports: the line goes nowhere.
  expect((await target.raw({ path: "/readyz" })).status).toBe(200);
  const ended = new Promise<boolean>((resolve) => child.once("exit", () => resolve(true)));
  child.kill("SIGTERM");
  expect(await Promise.race([ended, delay(20_000, false)])).toBe(true);
  expect(child.signalCode).toBeNull();
  expect(child.exitCode).toBe(0);
});
