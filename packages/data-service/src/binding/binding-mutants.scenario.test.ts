/** Wrong plans of bindings, each of which the stories must find without any fault, or with one. */
import { explore, type FaultKind } from "setpoint/testing";
import { expect, test } from "vitest";
import { options, subject, worlds } from "./binding-worlds.fixture.ts";
import { planBinding } from "./plan-binding.ts";
import type { SeenBinding } from "./seen-binding.ts";

type Plan = typeof planBinding;

/** Rules that a wrong plan breaks. */
async function broken(plan: Plan, faults: readonly FaultKind[]): Promise<readonly string[]> {
  const found = await explore({ ...options, worlds, seed: 11, subject: () => subject(plan), faults, seconds: 60 });
  return found.failures.map(({ rule }) => rule.oracle);
}

const overlapping = "a published login works until its overlap has passed";

test("a rotation that drops the old login early is found", async () => {
  const early = (seen: SeenBinding): SeenBinding => ({
    ...seen,
    remainingMs: Object.fromEntries(Object.keys(seen.remainingMs).map((user) => [user, 0])),
  });
  expect(await broken((seen, now) => planBinding(early(seen), now), [])).toContain(overlapping);
});

test("a rotation that makes another password with each attempt is found", async () => {
  const forgetful: Plan = (seen, now) => {
    const step = planBinding(seen, now);
    const isRetry = seen.refused === undefined && seen.secret.kind === "absent";
    const pending = seen.logins.find(({ state }) => state === "Pending");
    if (step.kind !== "act" || step.action !== "issueLogin" || !isRetry || pending?.rights === undefined) return step;
    return { ...step, action: "prepareLogin", args: pending };
  };
  expect(await broken(forgetful, ["B3"])).not.toEqual([]);
});
