/** Effects outside of the cluster, struck by a crash or a lost answer at every single write. */
import { conditions, controller, defineKind, defineOperator, type Effect } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { simulate, type OperatorSource } from "./index.ts";

const Chocolate = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Chocolate",
  spec: z.object({ pieces: z.int() }),
  status: z.object({ parcel: z.string().optional(), conditions: conditions().optional() }),
});

/** A factory that sells over the internet: it does whatever it is asked, as often as it is asked. */
class Factory {
  readonly asked: string[] = [];
  readonly #parcels = new Map<string, string>();

  find(key: string): string | undefined {
    return this.#parcels.get(key);
  }

  order(what: string, key: string): string {
    const parcel = `parcel-${this.asked.push(`${what} ${key.split("/").at(-1)}`)}`;
    this.#parcels.set(key, parcel);
    return parcel;
  }
}

/** Orders the chocolate once, and sends it back once when it is deleted. */
function shop(factory: Factory): OperatorSource {
  return (process) => {
    const asking = (what: string): Effect<string> => ({
      find: (key) => process.call(`look ${what}`, "look", async () => factory.find(key)),
      do: (key) => process.call(what, "write", async () => factory.order(what, key)),
    });
    const chocolates = controller(Chocolate, {
      ledger: true,
      async reconcile({ spec }, { effect, status }) {
        await status({ parcel: await effect(`order-${spec.pieces}`, asking("order")) });
      },
      async cleanup(_chocolate, { effect }) {
        await effect("return", asking("return"));
      },
    });
    return defineOperator({ name: "shop", controllers: [chocolates] });
  };
}

type Strike = "none" | "before" | "after" | "lose";

/** Orders, orders more, deletes; with one write of the operator struck. */
async function story(
  seed: number,
  write: number,
  strike: Strike,
  watchLagMsMax = 0,
): Promise<[readonly string[], number]> {
  const factory = new Factory();
  await using world = await simulate({ seed, operators: [shop(factory)], watchLagMsMax });
  if (strike === "lose") world.loseAnswerOf(write);
  else if (strike !== "none") world.crashOperatorAt(write, strike);
  await world.apply(Chocolate({ name: "truffle", spec: { pieces: 1 } }));
  await world.settled();
  expect((await world.get(Chocolate, "truffle")).status?.parcel).toBe("parcel-1");
  await world.expectQuiet();
  await world.patch(Chocolate, "truffle", { spec: { pieces: 2 } });
  await world.settled();
  expect((await world.get(Chocolate, "truffle")).status?.parcel).toBe("parcel-2");
  await world.delete(Chocolate, "truffle");
  await world.settled();
  expect(await world.list(Chocolate)).toEqual([]);
  return [factory.asked, world.operatorWrites];
}

const once = ["order order-1", "order order-2", "return return"];

test("an effect costs two writes: the intent and the result", async () => {
  const [asked, writes] = await story(1, 0, "none");
  expect(asked).toEqual(once);
  // Finalizer on and off, two statuses, three effects with two records each.
  expect(writes).toBe(2 + 2 + 3 * 3);
});

for (const strike of ["before", "after", "lose"] as const)
  test(`the factory sees each order once, whichever write is struck (${strike})`, async () => {
    for (let write = 1; write <= 13; write++) {
      const [asked] = await story(write, write, strike);
      expect(asked, `write ${write}`).toEqual(once);
    }
  });

test("the factory sees each order once although the operator's watches are late and it crashes", async () => {
  for (let write = 1; write <= 13; write++) {
    const [asked] = await story(100 + write, write, "after", 2_000);
    expect(asked, `write ${write}`).toEqual(once);
  }
});

test("find learns whether an intent was recorded: not at first, and from the first attempt on", async () => {
  const intents: (string | undefined)[] = [];
  let attempts = 0;
  const unsure = controller(Chocolate, {
    ledger: true,
    async reconcile(_chocolate, { effect, status }) {
      const parcel = await effect("order", {
        async find(_key, { intendedSince }) {
          intents.push(intendedSince);
          return attempts < 2 ? undefined : "parcel-1";
        },
        async do() {
          attempts++;
          throw new Error("the connection broke");
        },
      });
      await status({ parcel });
    },
  });
  await using world = await simulate({
    seed: 1,
    operators: [defineOperator({ name: "unsure", controllers: [unsure] })],
  });
  await world.apply(Chocolate({ name: "truffle", spec: { pieces: 1 } }));
  await world.settled();
  const [first, ...others] = intents;
  expect(first).toBeUndefined();
  expect(others).toHaveLength(2);
  expect(new Set(others).size).toBe(1);
  expect(others[0]).toMatch(/^\d{4}-\d{2}-\d{2}T/);
});

test("an object that is recreated under the old name has effects of its own", async () => {
  const factory = new Factory();
  await using world = await simulate({ seed: 1, operators: [shop(factory)] });
  for (const _ of [1, 2]) {
    await world.apply(Chocolate({ name: "truffle", spec: { pieces: 1 } }));
    await world.settled();
    await world.delete(Chocolate, "truffle");
    await world.settled();
  }
  expect(factory.asked).toEqual(["order order-1", "return return", "order order-1", "return return"]);
});

test("an effect whose record was removed is looked up, and not done again", async () => {
  const factory = new Factory();
  await using world = await simulate({ seed: 1, operators: [shop(factory)] });
  await world.apply(Chocolate({ name: "truffle", spec: { pieces: 1 } }));
  await world.settled();
  await world.patch(Chocolate, "truffle", { metadata: { annotations: { "ledger.setpoint.dev/chocolate": null } } });
  await world.restartOperator();
  await world.settled();
  expect(factory.asked).toEqual(["order order-1"]);
});

test("a controller that has not declared its ledger gets one error about it", async () => {
  const silent = controller(Chocolate, {
    reconcile: async (_chocolate, { effect }) =>
      void (await effect("a", { find: async () => undefined, do: async () => true })),
  });
  await using world = await simulate({
    seed: 1,
    operators: [defineOperator({ name: "silent", controllers: [silent] })],
  });
  await world.apply(Chocolate({ name: "truffle", spec: { pieces: 1 } }));
  await world.settled({ failing: "declare `ledger: true` in it" });
  expect((await world.get(Chocolate, "truffle")).status?.conditions?.[0]).toMatchObject({
    type: "Stalled",
    status: "True",
    reason: "Terminal",
    message: expect.stringContaining("declare `ledger: true` in it"),
  });
});
