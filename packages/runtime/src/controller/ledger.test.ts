import type { Transport, WatchFrame } from "@setpoint/apimachinery";
import { controller, type ControllerDefinition } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld } from "../run/controller-world.fixture.ts";
import { kept, ledgerOf, ledgerText, withEffect, type Ledger } from "./ledger.ts";

/**
 * Says what it does in `done`; the world outside shows an effect late, so that only the ledger can prevent a
 * second one.
 */
function forgetful(done: string[]): ControllerDefinition {
  return controller(Candy, {
    ledger: true,
    async reconcile(_candy, { effect, step }) {
      await step("first", async () => void done.push("first"));
      await step("second", async () => void done.push("second"));
      await effect("order", {
        find: async () => undefined,
        do: async () => {
          done.push("order");
          return "o-1";
        },
      });
    },
  });
}

/** What a server says that lags: the object as it was, and then nothing. */
async function* old(object: Candy, signal: AbortSignal | undefined): AsyncGenerator<WatchFrame> {
  yield { type: "ADDED", object };
  const { resourceVersion } = object.metadata;
  const annotations = { "k8s.io/initial-events-end": "true" };
  const { apiVersion, kind } = object;
  yield { type: "BOOKMARK", object: { apiVersion, kind, metadata: { resourceVersion, annotations } } };
  await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
}

test("a process whose first view is old does nothing that another has already done", async () => {
  await using world = createControllerWorld();
  const before = await world.client.create(Candy, candy("mint"));
  const done: string[] = [];
  const first = world.start([forgetful(done)]);
  await world.settle(first);
  await world.wait(first.stop());
  expect(done).toEqual(["first", "second", "order"]);

  const runs = world.writes().length;
  const outdated: Transport = {
    async send(request, signal) {
      const isWatch = request.path.endsWith("/candies") && request.query?.["watch"] !== undefined;
      if (!isWatch) return world.faults.send(request, signal);
      return { kind: "watch", status: 200, headers: {}, frames: old(before, signal) };
    },
  };
  const second = world.start([forgetful(done)], { transport: outdated });
  await world.run(30_000);
  // It tried: its view was refused by the server, not just never used.
  expect(world.writes().length).toBeGreaterThan(runs);
  expect(done).toEqual(["first", "second", "order"]);
  await world.wait(second.stop());
});

test("a ledger forgets the oldest effects that are done and never one that is under way", () => {
  let ledger: Ledger = { uid: "u", effects: {} };
  ledger = withEffect(ledger, "open", { state: "intended", since: "t" });
  for (let i = 0; i < 100; i++) ledger = withEffect(ledger, `e${i}`, { state: "done", result: i });
  expect(Object.keys(ledger.effects).length).toBe(32);
  expect(ledger.effects["open"]?.state).toBe("intended");
  expect(ledger.effects["e99"]).toEqual({ state: "done", result: 99 });
  expect(ledger.effects["e68"]).toBeUndefined();
  for (let i = 0; i < 31; i++) ledger = withEffect(ledger, `open${i}`, { state: "intended", since: "t" });
  expect(() => withEffect(ledger, "one more", { state: "intended", since: "t" })).toThrow(
    'Cannot begin effect "one more": 32 effects of this object are unfinished; complete one first',
  );
});

test("effects with long results do not fill the ledger for ever: the oldest make way for new ones, and for steps", async () => {
  await using world = createControllerWorld();
  const done: string[] = [];
  const ordering = controller(Candy, {
    ledger: true,
    async reconcile({ spec: { flavors } }, { effect, step }) {
      for (const flavor of flavors)
        await effect(`order-${flavor}`, {
          find: async () => undefined,
          async do() {
            done.push(flavor);
            return { flavor, receipt: "r".repeat(900) };
          },
        });
      await step(`file ${flavors.join()}`, async () => "f".repeat(1_000));
    },
  });
  await world.client.create(Candy, candy());
  const manager = world.start([ordering]);
  const flavors = Array.from({ length: 40 }, (_, i) => `f${i}`);
  for (const flavor of flavors) {
    const key = { name: "lolly", namespace: "default" };
    await world.client.patch(Candy, key, { spec: { flavors: [flavor] } });
    await world.settle(manager);
  }
  expect(done).toEqual(flavors);
  const ledger = ledgerOf(await world.candy(), "candy");
  expect(ledger.effects["order-f39"]).toMatchObject({ state: "done" });
  expect(ledger.steps?.done).toHaveProperty("file f39");
});

test("steps and effects may have the names that every object has", async () => {
  await using world = createControllerWorld();
  const done: string[] = [];
  await world.client.create(Candy, candy("mint"));
  const named = controller(Candy, {
    ledger: true,
    async reconcile(_candy, { step, effect }) {
      await step("constructor", async () => void done.push("step"));
      await effect("toString", { find: async () => undefined, do: async () => done.push("effect") });
    },
  });
  await world.settle(world.start([named]));
  expect(done).toEqual(["step", "effect"]);
});

test("a result that is too large, and a ledger that would be, are refused with a sentence", () => {
  expect(() => kept('effect "a"', "x".repeat(1_025))).toThrow(
    'Cannot keep the result of effect "a": it has 1027 characters and at most 1024 are allowed; return an id',
  );
  const effects = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`e${i}`, { state: "done" as const, result: "x".repeat(1_000) }]),
  );
  expect(() => ledgerText({ uid: "u", effects })).toThrow(/^Cannot keep the ledger: it would have \d+ characters/);
});

test("the ledger of a copied object, and a damaged one, count as empty", () => {
  const object = (text: string): Candy => {
    const annotations = { "ledger.setpoint.dev/candy": text };
    return { ...candy(), metadata: { name: "b", uid: "u2", annotations } };
  };
  const none = { uid: "u2", effects: {} };
  expect(ledgerOf(object('{"uid":"u1","effects":{"a":{"state":"done"}}}'), "candy")).toEqual(none);
  expect(ledgerOf(object("{"), "candy")).toEqual(none);
  expect(ledgerOf(object("7"), "candy")).toEqual(none);
});
