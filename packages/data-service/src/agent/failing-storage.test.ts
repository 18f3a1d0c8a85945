/**
 * The store fails at every request, in every way: never "done" for what cannot be restored, and nothing is
 * left behind.
 */
import { expect, test } from "vitest";
import { type FaultChoice, faultyStorage, type StorageFault } from "../storage/faulty-storage.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { AgentSetting, sampleData } from "./agent-setting.fixture.ts";

const object = "orders";
const faults: readonly StorageFault[] = ["refuse", "loseAnswer", "cutOff", "flipBit"];

interface Stage extends Disposable {
  readonly setting: AgentSetting;
  readonly storage: MemoryStorage;
  /** From the next transfer on. */
  breakAt(choose: FaultChoice): void;
  readonly calls: () => number;
}

function stage(): Stage {
  const setting = new AgentSetting();
  const storage = new MemoryStorage();
  setting.data = sampleData(50_000);
  setting.partBytes = 20_000;
  setting.encrypt("2026");
  let calls = 0;
  const breakAt = (choose: FaultChoice): void => {
    calls = 0;
    setting.storage = () => faultyStorage(storage, (index, ...rest) => ((calls = index + 1), choose(index, ...rest)));
  };
  breakAt(() => undefined);
  return { setting, storage, breakAt, calls: () => calls, [Symbol.dispose]: () => setting[Symbol.dispose]() };
}

test.each(faults.map((fault) => [fault]))(
  "a backup survives %s at each request",
  { timeout: 60_000 },
  async (fault) => {
    using world = stage();
    const { setting, storage } = world;
    await setting.run({ task: "backup", object });
    const calls = world.calls();
    expect(calls).toBeGreaterThan(10);
    for (let at = 0; at < calls; at++) {
      storage.objects.clear();
      world.breakAt((index) => (index === at ? fault : undefined));
      const { result } = await setting.run({ task: "backup", object });
      world.breakAt(() => undefined);
      if (result.outcome === "done") {
        expect((await setting.run({ task: "verify", object })).result, `request ${at}`).toEqual(result);
      } else {
        expect(result.retry, `request ${at}: ${result.reason}`).toBe(true);
        expect([...storage.objects.keys()], `request ${at}`).toEqual([]);
        // The next attempt succeeds.
        expect((await setting.run({ task: "backup", object })).exitCode).toBe(0);
      }
    }
  },
);

test("a store that fails for good leaves an incomplete backup that says so, and delete removes it", async () => {
  using world = stage();
  const { setting, storage } = world;
  world.breakAt((index) => (index > 7 ? "refuse" : undefined));
  const { result } = await setting.run({ task: "backup", object });
  expect(result).toMatchObject({
    reason: "StoreUnreachable",
    message: expect.stringContaining("may be left") as string,
  });
  expect(storage.objects.size).toBeGreaterThan(0);
  world.breakAt(() => undefined);
  expect((await setting.run({ task: "verify", object })).result).toMatchObject({ reason: "BackupMissing" });
  await setting.run({ task: "delete", object });
  expect(storage.objects.size).toBe(0);
});

test.each(["refuse", "cutOff", "flipBit"] as const)("reading survives %s at each request", async (fault) => {
  using world = stage();
  const { setting } = world;
  await setting.run({ task: "backup", object });
  world.breakAt(() => undefined);
  await setting.run({ task: "verify", object });
  const calls = world.calls();
  for (let at = 0; at < calls; at++) {
    world.breakAt((index) => (index === at ? fault : undefined));
    expect((await setting.run({ task: "fetch", object })).exitCode, `request ${at}`).toBe(1);
    expect(setting.fetched()).toBeUndefined();
  }
});

test.each(["refuse", "loseAnswer"] as const)("a deletion that ends by %s is finished by the next", async (fault) => {
  using world = stage();
  const { setting, storage } = world;
  for (let at = 0; at < 10; at++) {
    world.breakAt(() => undefined);
    await setting.run({ task: "backup", object });
    world.breakAt((index) => (index === at ? fault : undefined));
    expect((await setting.run({ task: "delete", object })).exitCode, `request ${at}`).toBe(at < world.calls() ? 1 : 0);
    world.breakAt(() => undefined);
    expect((await setting.run({ task: "delete", object })).exitCode).toBe(0);
    expect(storage.objects.size).toBe(0);
  }
});
