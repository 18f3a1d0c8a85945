/**
 * Small explorations for promises of which the laws explore the same worlds under all faults.
 * Only `npm run mutants:promises` runs them.
 */
import { explore, type ExploredModule, type FaultKind, type StoryInit } from "@setpoint/testing";
import { minutes } from "setpoint";
import { expect, test } from "vitest";
import * as bindings from "../../../operators/etcd/src/testing/etcd-binding-worlds.ts";
import * as fencing from "../../../operators/etcd/src/testing/etcd-fencing-worlds.ts";
import * as mirrors from "../../../operators/etcd/src/testing/etcd-mirror-worlds.ts";

const secondsMax = 240;

/** A promise, a part of the name of the story in which it is explored, and the faults that strike. */
type Row = readonly [promise: string, module: ExploredModule, story: string, faults: readonly FaultKind[]];

test.each<Row>([
  ["a member stays fenced when the consent is taken back", fencing, "stays fenced", []],
  ["Unfence ends when its member is released", fencing, "Operations fence", ["B1"]],
  ["a rollout of a mirror stops the old pod first", mirrors, "changed and deleted", []],
  ["a mirror goes on while its cluster gets a login", mirrors, "wants a login", ["A2"]],
  ["a revoked binding leaves no login of its overlap", bindings, "during an overlap", []],
  ["a revoked binding leaves no user that was being created", bindings, "during a rotation", ["B3"]],
])("%s", { timeout: secondsMax * 1_000 * 1.5 }, async (_, { subject, worlds, options }, part, faults) => {
  const chosen = worlds.filter((each) => nameOf(each).includes(part));
  const bounds = { failuresMax: 1, seconds: secondsMax, quietMs: minutes(3) };
  const found = await explore({ seed: 7, ...options, ...bounds, subject, worlds: chosen, faults });
  console.log(`${found.schedules} runs in ${(found.tookMs / 1_000).toFixed(1)} s`);
  expect(found.failures.map(({ rule }) => `${rule.oracle}: ${rule.sentence}`)).toEqual([]);
  expect(found.isComplete).toBe(true);
});

function nameOf(world: StoryInit): string {
  return "steps" in world ? world.name : "";
}
