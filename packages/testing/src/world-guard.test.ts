import { randomUUID } from "node:crypto";
import { sleep } from "@setpoint/host";
import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { simulate } from "./index.ts";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
});

type Reconcile = (clock: Parameters<typeof sleep>[0]) => unknown;

function doing(reconcile: Reconcile): Operator {
  return defineOperator({
    name: "candy",
    controllers: [
      controller(Candy, {
        async reconcile(_candy, { host: { clock } }) {
          await reconcile(clock);
        },
      }),
    ],
  });
}

async function run(reconcile: Reconcile, stallMsMax = 10_000): Promise<void> {
  await using world = await simulate({ seed: 1, operators: [doing(reconcile)], stallMsMax });
  await world.apply(Candy({ name: "lolly", spec: { flavor: "mint" } }));
  await world.settled();
}

test.each<[string, Reconcile]>([
  ["Date.now()", () => Date.now()],
  ["Date()", () => new Date()],
  ["performance.now()", () => performance.now()],
  ["process.hrtime.bigint()", () => process.hrtime.bigint()],
  ["setTimeout()", () => new Promise((resolve) => setTimeout(resolve, 10))],
  ["setImmediate()", () => new Promise((resolve) => setImmediate(resolve))],
  ["Math.random()", () => Math.random()],
  ["crypto.randomUUID()", () => crypto.randomUUID()],
  ["crypto.getRandomValues()", () => crypto.getRandomValues(new Uint8Array(4))],
  ["crypto.randomUUID()", () => randomUUID()],
  ["fetch()", () => fetch("http://127.0.0.1:1/")],
])("an operator that calls %s fails its test with a sentence that says where", async (call, reconcile) => {
  const error = await run(reconcile).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  expect(error?.message).toContain(`Cannot call ${call} in a simulated world`);
  expect(error?.message).toContain("world-guard.test.ts");
});

test("what an operator does after waiting is guarded, too", async () => {
  const late: Reconcile = async (clock) => {
    await sleep(clock, 5_000);
    await Promise.resolve();
    return Math.random();
  };
  await expect(run(late)).rejects.toThrow("Cannot call Math.random()");
});

test("dates that are made of something are data", async () => {
  await run(() => expect(new Date(0).toISOString()).toBe("1970-01-01T00:00:00.000Z"));
});

test("a test may look at real time while its world stands still", async () => {
  await using world = await simulate({ seed: 1, operators: [doing(() => {})] });
  const before = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 2));
  await world.until("something that takes real time", () => Date.now() >= before + 1 && new Date() instanceof Date);
  expect(Math.random()).toBeLessThan(1);
});

test("an operator that loops from one promise to the next ends with a sentence, not a hang", async () => {
  const endless: Reconcile = async function endless() {
    for (;;) await Promise.resolve();
  };
  await expect(run(endless, 300)).rejects.toThrow(
    /no step ended within 0.3 s.*\n\s+at endless .*world-guard\.test\.ts/,
  );
});

test("an operator that never yields ends with a sentence, not a hang", async () => {
  const busy: Reconcile = function busy() {
    for (let count = 0; ; count++) if (count < 0) return;
  };
  await expect(run(busy, 300)).rejects.toThrow(/no step ended within 0.3 s.*\n\s+at busy .*world-guard\.test\.ts/);
});

test("an operator that waits for 0 ms again and again ends with a sentence, not a hang", async () => {
  const restless: Reconcile = async (clock) => {
    for (;;) await sleep(clock, 0);
  };
  await expect(run(restless)).rejects.toThrow("find the code that waits for 0 ms in a loop");
});

test("a world without a seed is refused", async () => {
  const forgotten = {} as Parameters<typeof simulate>[0];
  await expect(simulate(forgotten)).rejects.toThrow('Cannot simulate without a seed: "seed" is undefined');
});
