import { ConfigMap } from "@setpoint/api";
import { controller, defineKind, defineOperator, type ReconcileContext, type Result, type Stored } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Fault } from "../faults/fault.ts";
import { allOracles } from "../oracles/all-oracles.ts";
import { type RunReport, runSchedule } from "./run-schedule.ts";
import { patch, story } from "./story.ts";

const Page = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Page",
  spec: z.object({ text: z.string() }),
});

type Reconcile = (page: Stored<ReturnType<typeof Page>>, context: ReconcileContext) => Promise<Result | void>;

const writing: Reconcile = async ({ metadata, spec }, { apply }) => {
  await apply(ConfigMap({ name: metadata.name, data: { text: spec.text } }));
};

const changed = story(
  "a page changes",
  Page({ name: "a", spec: { text: "one" } }),
  patch(Page, "a", { spec: { text: "two" } }),
);

function runOf(reconcile: Reconcile, faults: readonly Fault[], seed = 7): Promise<RunReport> {
  const pages = controller(Page, { owns: [ConfigMap], reconcile });
  const subject = defineOperator({ name: "pages", controllers: [pages] });
  const options = { oracles: allOracles, withinMs: 300_000, quietMs: 600_000 };
  return runSchedule(subject, { seed, story: changed, faults }, options);
}

/**
 * The change is seen only when the world has been at rest for a while, and what comes of it takes a node
 * away.
 */
const seenLate: Fault = { kind: "C5", at: { by: "pages", event: "pages", nth: 2 }, forMs: 20_000 };
const nodeLost: Fault = {
  kind: "E9",
  at: { by: "pages", write: "PATCH default/configmaps/a", nth: 2 },
  rank: 1,
  backMs: 120_000,
};

test("a fault that strikes while the world comes to rest from another one is over before the time of rest begins", async () => {
  const { struck, broken } = await runOf(writing, [seenLate, nodeLost]);
  expect(struck.map(({ fault }) => fault.kind)).toEqual(["C5", "E9"]);
  expect(broken).toEqual([]);
});

test("an operator that polls at rest is found, also after long faults", async () => {
  const looking: Reconcile = async (page, context) => {
    await writing(page, context);
    await context.fresh(ConfigMap, page.metadata.name);
    return context.requeueAfter(300_000, "who knows");
  };
  const { broken } = await runOf(looking, [seenLate, nodeLost]);
  expect(broken.map(({ oracle }) => oracle)).toEqual(["stays quiet"]);
});
