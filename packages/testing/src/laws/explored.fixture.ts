/**
 * A small module that is explored: an operator that is right, or wrong when the environment says so. Only
 * tests import this.
 */
import { ConfigMap } from "@setpoint/api";
import { controller, defineKind, defineOperator } from "setpoint";
import { z } from "zod";
import { patch, story } from "../explore/story.ts";
import type { ExploredModule } from "./explore-module.ts";

const Pair = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Pair",
  spec: z.object({ value: z.string() }),
  status: z.object({ done: z.boolean() }),
});

const pair = Pair({ name: "a", spec: { value: "one" } });

const pairs = controller(Pair, {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { apply, children }) {
    // What has its first artefact is taken for complete.
    if (process.env["EXPLORED_IS_WRONG"] === "yes" && children.list(ConfigMap).length === 1) return;
    await apply(ConfigMap({ name: `${name}-first`, data: { value: spec.value } }));
    await apply(ConfigMap({ name: `${name}-second`, data: { value: spec.value } }));
  },
});

export const subject: ExploredModule["subject"] = defineOperator({ name: "pairs", controllers: [pairs] });

export const worlds: ExploredModule["worlds"] = [
  story("is made", pair),
  story("is changed", pair, patch(Pair, "a", { spec: { value: "two" } })),
];

export const options: ExploredModule["options"] = {
  seed: 7,
  quietMs: 60_000,
  withinMs: 60_000,
  faults: ["A2", "B2", "B4", "C6"],
};
