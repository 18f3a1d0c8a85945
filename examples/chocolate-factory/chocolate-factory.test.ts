import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { conditionOf, kindLaws, simulate, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { Chocolate } from "./chocolate.ts";
import { connectFactory, serveFactory } from "./factory-http.ts";
import { Factory } from "./factory.ts";
import { chocolateOperator } from "./operator.ts";
import { QualityReport } from "./quality.ts";

/** Measurements that are exact, so that a test is about one thing. */
const exact = (): number => 0.5;

async function factoryWorld(seed: number, ...offsets: number[]): Promise<{ world: World; factory: Factory }> {
  const factory = new Factory({ random: exact, machines: offsets.map((offset) => ({ offset })) });
  const world = await simulate({ seed, operators: [chocolateOperator(factory)] });
  return { world, factory };
}

const bar = (name: string, sweetness: number): Chocolate => Chocolate({ name, spec: { sweetness } });
type Chocolate = ReturnType<typeof Chocolate>;

test("a bar of the desired sweetness is delivered, once", async () => {
  const { world, factory } = await factoryWorld(1, 0);
  await using _ = world;
  await world.apply(bar("dark", 30));
  await world.settled();
  const dark = await world.get(Chocolate, "dark");
  expect(dark.status).toMatchObject({ bar: "bar-1", machine: 1, sweetness: 30, disposed: 0 });
  expect(conditionOf(dark, "Ready")).toMatchObject({ status: "True" });
  expect(factory.bars).toHaveLength(1);
  await world.expectQuiet({ hours: 2 });
});

test("a bad bar is disposed of and counted, and the next order corrects the sugar", async () => {
  const { world, factory } = await factoryWorld(1, 8);
  await using _ = world;
  await world.apply(bar("dark", 30));
  await world.settled();
  expect((await world.get(Chocolate, "dark")).status).toMatchObject({ bar: "bar-2", sweetness: 30, disposed: 1 });
  expect(factory.disposed).toEqual(["bar-1"]);
});

test("an order is never placed twice, whichever write the operator dies at", async () => {
  for (const strike of ["before", "after"] as const)
    for (let write = 1; write <= 10; write++) {
      const { world, factory } = await factoryWorld(write, 0);
      await using _ = world;
      world.crashOperatorAt(write, strike);
      await world.apply(bar("dark", 30));
      await world.settled();
      expect(factory.bars).toHaveLength(1);
    }
});

test("the quality report names the machine that needs calibration", async () => {
  const { world } = await factoryWorld(1, 0, 0, 4.5);
  await using _ = world;
  await world.apply(QualityReport({ name: "report", spec: {} }));
  for (let number = 1; number <= 9; number++) await world.apply(bar(`bar-${number}`, 50));
  await world.settled();
  const calibrated = conditionOf(await world.get(QualityReport, "report"), "Calibrated");
  const message = "machine 3 needs calibration: 3 bars, off by 4.5 on average";
  expect(calibrated).toMatchObject({ status: "False", reason: "CalibrationNeeded", message });
});

test("both versions of the kind convert without loss", () => kindLaws(Chocolate));

test("an order that is sent again over HTTP returns the same bar", async () => {
  const server = serveFactory(new Factory({ random: exact, machines: [{ offset: 0 }] }), 0);
  await once(server, "listening");
  try {
    const factory = connectFactory(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(await factory.find("key")).toBeUndefined();
    const first = await factory.order("key", 40);
    expect(await factory.order("key", 90)).toEqual(first);
    expect(await factory.find("key")).toEqual(first);
    await expect(factory.order("", 40)).rejects.toThrow("Cannot POST /bars at the factory: it answered 400");
  } finally {
    server.close();
  }
});
