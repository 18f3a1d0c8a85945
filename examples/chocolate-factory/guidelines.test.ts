import { apply, operatorGuidelines, type Setting, story, type World } from "setpoint/testing";
import { test } from "vitest";
import { Chocolate } from "./chocolate.ts";
import { Factory } from "./factory.ts";
import { chocolateOperator } from "./operator.ts";

const dark = Chocolate({ name: "dark", spec: { sweetness: 30 } });
/** As the first version of the kind stored it. */
const mild = {
  apiVersion: "factory.setpoint.dev/v1beta1",
  kind: "Chocolate",
  metadata: { name: "mild", namespace: "default" },
  spec: { taste: "mild" },
};

/** The factory of the newest world. */
let factory: Factory;

function subject(): Setting {
  factory = new Factory({ random: () => 0.5, machines: [{ offset: 8 }, { offset: 0 }] });
  return { operators: [chocolateOperator(factory)] };
}

/** Whether the bar that the status names is there. */
async function isDelivered(world: World): Promise<boolean> {
  const { bar } = (await world.get(Chocolate, "dark")).status ?? {};
  return bar !== undefined && factory.bars.some(({ id }) => id === bar) && !factory.disposed.includes(bar);
}

operatorGuidelines(test, "chocolate-factory", subject, {
  instance: dark,
  primitives: {
    notApplicable: "a bar is made by a machine outside of the cluster, so there is no built-in kind for it",
  },
  older: { place: async (world) => void (await world.apply(mild)) },
  away: { isServing: isDelivered },
  version: { notApplicable: "a bar is eaten, not upgraded: another wish is another bar" },
  chaos: { worlds: [story("a bar is ordered", apply(dark))], mayDiffer: ["Chocolate.status"] },
});
