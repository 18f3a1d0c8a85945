/** Guideline 5: instances do not need their operator to go on. */
import type { Stored } from "@setpoint/client";
import type { Pod } from "@setpoint/api";
import type { World } from "../../world.ts";
import { type AwayOptions, excuseOf, type Guideline } from "./guideline.ts";
import { isReady, named, pods, settle, withInstance } from "./stage.ts";

/** How long the operator is away, and how often the instance is looked at meanwhile. */
const awayMinutes = 30;
const minuteMs = 60_000;

export const operatorAway: Guideline = {
  title: "instances live on when the operator is away",
  excuse: ({ away }) => excuseOf(away),
  problem: (subject, options) =>
    withInstance(subject, options, async ({ world }) => {
      const { away } = options;
      const before = await pods(world);
      if ("notApplicable" in away) return before[0] && `it is excused, but its instance runs ${named(before[0])}`;
      if (!(await away.isServing(world))) return "its instance does not serve although the operator is there";
      world.stopOperator();
      const interrupted = await watchAlone(world, away, before);
      if (interrupted !== undefined) return interrupted;
      await world.restartOperator();
      await settle(world);
      return changed(before, await pods(world), "when the operator came back");
    }),
};

async function watchAlone(
  world: World,
  away: AwayOptions,
  before: readonly Stored<Pod>[],
): Promise<string | undefined> {
  for (let minute = 1; minute <= awayMinutes; minute++) {
    await world.run(minuteMs);
    const when = `${minute} minutes after the operator stopped`;
    const problem = changed(before, await pods(world), when);
    if (problem !== undefined) return problem;
    if (!(await away.isServing(world))) return `its instance does not serve ${when}`;
  }
  return undefined;
}

function changed(before: readonly Stored<Pod>[], after: readonly Stored<Pod>[], when: string): string | undefined {
  const missing = before.find(({ metadata: { uid } }) => !after.some(({ metadata }) => metadata.uid === uid));
  if (missing !== undefined) return `${named(missing)} was gone ${when}`;
  const unready = after.find(
    (pod) => !isReady(pod) && before.some(({ metadata }) => metadata.uid === pod.metadata.uid),
  );
  return unready && `${named(unready)} was not ready ${when}`;
}
