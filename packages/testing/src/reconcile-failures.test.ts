/** A reconcile that still fails when the world is at rest fails the test. */
import { ConfigMap } from "@setpoint/api";
import { minutes, TerminalError, timer } from "@setpoint/runtime";
import { conditions, controller, defineKind, defineOperator, type ObjectOf, type Operator } from "setpoint";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  explore,
  type OperatorSource,
  OrderService,
  patch,
  reconcilerLaws,
  remove,
  type Setting,
  simulate,
  story,
  type World,
} from "./index.ts";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string().default("mint") }),
  status: z.object({ eaten: z.int().max(3).optional(), conditions: conditions().optional() }),
});

type Candy = ObjectOf<typeof Candy>;

const lolly = Candy({ name: "lolly", spec: {} });

type Controller = Operator["controllers"][number];

function only(...controllers: readonly Controller[]): Operator {
  return defineOperator({ name: "candy", controllers });
}

function melts(): never {
  throw new Error("the candy melts");
}

const plain = controller(Candy, {
  async reconcile() {
    melts();
  },
});

function worldOf(operator: OperatorSource): Promise<World> {
  return simulate({ seed: 1, operators: [operator] });
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => new Error("it did not fail"),
    (error: unknown) => error as Error,
  );
}

describe("a reconcile that always throws fails the test that waits", () => {
  const forms: Readonly<Record<string, Controller>> = {
    "a plain reconcile": plain,
    "a pure desired function": controller(Candy, { owns: { maps: ConfigMap }, desired: () => melts() }),
    "a planned controller": controller<Candy, string, { readonly stir: object }>(Candy, {
      observe: () => "warm",
      plan: () => melts(),
      actions: { async stir() {} },
    }),
    "a terminal error": controller(Candy, {
      async reconcile() {
        throw new TerminalError("the candy melts");
      },
    }),
    "a daemon": controller(Candy, { async reconcile() {}, daemons: { sun: timer(1_000, async () => melts()) } }),
  };
  test.each(Object.entries(forms))("%s", async (_form, definition) => {
    await using world = await worldOf(only(definition));
    await world.apply(lolly);
    const failure = await failureOf(world.settled());
    expect(failure.message).toContain("the candy melts");
    expect(failure.message).toContain(`of Candy "default/lolly" by controller "candy" still fails at rest`);
    expect(failure.message).toMatch(/at melts \(.*reconcile-failures\.test\.ts:\d+|at .*reconcile-failures\.test\.ts/);
    expect((await failureOf(world.expectQuiet())).message).toContain("the candy melts");
  });

  test("a cleanup", async () => {
    await using world = await worldOf(only(controller(Candy, { async reconcile() {}, cleanup: async () => melts() })));
    await world.apply(lolly);
    await world.settled();
    await world.delete(Candy, "lolly");
    const { message } = await failureOf(world.settled());
    expect(message).toContain('Cleanup of Candy "default/lolly" by controller "candy" still fails at rest: the candy');
  });

  test("a child that the server refuses, with the line of the author that wrote it", async () => {
    const definition = controller(Candy, {
      owns: [ConfigMap],
      async reconcile({ metadata }, { apply }) {
        await apply(ConfigMap({ name: `${metadata.name} with a space`, data: {} }));
      },
    });
    await using world = await worldOf(only(definition));
    await world.apply(lolly);
    const { message } = await failureOf(world.settled());
    expect(message).toContain("with a space");
    expect(message).toMatch(/reconcile-failures\.test\.ts:\d+/);
  });

  test("a status that the server refuses", async () => {
    const definition = controller(Candy, { reconcile: async (_candy, { status }) => status({ eaten: 7 }) });
    await using world = await worldOf(only(definition));
    await world.apply(lolly);
    expect((await failureOf(world.settled())).message).toContain("eaten");
  });

  test("the failure names the line of the test that waited", async () => {
    await using world = await worldOf(only(plain));
    await world.apply(lolly);
    let stack = "";
    try {
      await world.settled();
    } catch (error) {
      stack = (error as Error).stack ?? "";
    }
    const frames = stack.slice(stack.lastIndexOf("the last writes"));
    expect(frames).toMatch(/reconcile-failures\.test\.ts:\d+/);
  });
});

describe("a test that expects a failure says so", () => {
  test("when it waits", async () => {
    await using world = await worldOf(only(plain));
    await world.apply(lolly);
    await world.settled({ failing: /candy melts/ });
    await world.expectQuiet({ failing: "melts" });
    expect((await failureOf(world.settled({ failing: "no sugar" }))).message).toContain("the candy melts");
  });

  test("and fails when nothing fails", async () => {
    await using world = await worldOf(only(controller(Candy, { async reconcile() {} })));
    await world.apply(lolly);
    expect((await failureOf(world.settled({ failing: /melts/ }))).message).toContain("no reconcile fails with it");
  });
});

test("a failure that passes with its reason is none, however long the next retry is away", async () => {
  const factory = new OrderService();
  const definition: OperatorSource = (process) =>
    only(
      controller(Candy, {
        reconcile: async () => {
          await process.call("factory find", "look", () => factory.find("lolly"));
        },
      }),
    );
  await using world = await simulate({ seed: 1, models: [factory], operators: [definition] });
  factory.network.fail("partitioned");
  await world.apply(lolly);
  await world.run(minutes(20));
  expect((await failureOf(world.settled())).message).toContain("still fails at rest");
  factory.network.heal();
  await world.settled();
});

test("a failing reconcile of an object that is gone is none", async () => {
  await using world = await worldOf(only(plain));
  await world.apply(lolly);
  await world.run(minutes(1));
  await world.delete(Candy, "lolly");
  await world.settled();
});

describe("the laws", () => {
  const quick = { seed: 1, withinMs: 60_000, quietMs: 60_000, faults: [] } as const;

  test("are broken by a reconcile that always throws, also without declared health", async () => {
    const { message } = await failureOf(reconcilerLaws(only(plain), { ...quick, worlds: [lolly] }));
    expect(message).toContain('breaks "converges"');
    expect(message).toContain("the candy melts");
    expect(message).toMatch(/at melts \(.*reconcile-failures\.test\.ts:\d+/);
  });

  test("are broken by a cleanup that always throws", async () => {
    const stuck = only(controller(Candy, { async reconcile() {}, cleanup: async () => melts() }));
    const worlds = [story("is eaten", lolly, remove(Candy, "lolly"))];
    const { failures } = await explore({ ...quick, subject: stuck, worlds });
    expect(failures[0]?.rule.sentence).toContain("the candy melts");
  });

  test("are kept where the setting says what may fail", async () => {
    const picky = only(
      controller(Candy, {
        async reconcile({ spec }) {
          if (spec.flavor === "soap") throw new TerminalError("nobody likes soap");
        },
      }),
    );
    const worlds = [
      story(
        "soap",
        lolly,
        patch(Candy, "lolly", { spec: { flavor: "soap" } }),
        patch(Candy, "lolly", { spec: { flavor: "lime" } }),
      ),
    ];
    const subject = (): Setting => ({ operators: [picky], mayFail: ["likes soap"] });
    const { failures } = await explore({ ...quick, subject, worlds });
    expect(failures).toEqual([]);
  });
});
