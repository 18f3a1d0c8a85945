/** The operator on stage in the simulated world, with a StatefulSet to strike. Only tests import this. */
import { PodDisruptionBudget, StatefulSet } from "setpoint/kinds";
import { type Setting, simulate, type World } from "setpoint/testing";
import { hatefulSetOperator } from "../hateful-set-operator.ts";
import { chaosNames } from "../kind/chaos-names.ts";
import { HatefulSet } from "../kind/hateful-set.ts";

type Spec = Parameters<typeof HatefulSet>[0]["spec"];

export const setting = (): Setting => ({ operators: [hatefulSetOperator()] });

const labels = { app: "web" };

export const web: StatefulSet = StatefulSet({
  name: "web",
  labels: { [chaosNames.chaos]: "enabled" },
  spec: {
    replicas: 3,
    serviceName: "web",
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});

export const budget: PodDisruptionBudget = PodDisruptionBudget({
  name: "web",
  spec: { minAvailable: 2, selector: { matchLabels: labels } },
});

export function chaos(spec: Partial<Spec> = {}, annotations: Record<string, string> = {}): HatefulSet {
  return HatefulSet({ name: "chaos", annotations, spec: { chaosLevel: 10, interval: 300, ...spec } });
}

/** A world in which the target runs. */
export async function setUp(seed: number): Promise<World> {
  const world = await simulate({ seed, ...setting() });
  for (const object of [web, budget]) await world.apply(object);
  await world.settled();
  return world;
}
