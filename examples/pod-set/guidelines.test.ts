import { Pod } from "setpoint/kinds";
import { operatorGuidelines, patch, story, type World } from "setpoint/testing";
import { test } from "vitest";
import operator, { PodSet } from "./pod-set.ts";

const web = PodSet({ name: "web", spec: { image: "web:1", replicas: 3 } });

async function images(world: World): Promise<readonly string[]> {
  return (await world.list(Pod)).map(({ spec }) => spec?.containers[0]?.image ?? "");
}

operatorGuidelines(test, "pod-set", operator, {
  instance: web,
  primitives: { ownPods: "it does the work of a ReplicaSet, to show how that is done" },
  older: { notApplicable: "it has one version, and no earlier release of it has stored objects" },
  away: { isServing: async (world) => (await images(world)).length === 3 },
  version: { field: "spec.image", next: "web:2", running: images },
  chaos: { worlds: [story("grows", web, patch(PodSet, "web", { spec: { replicas: 5 } }))] },
});
