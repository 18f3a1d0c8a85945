/**
 * Reports for each recorded failing schedule whether it still breaks a rule when its fix is removed. The
 * moment of the faults moves when requests come in another order. `--derive SECONDS` searches that moment
 * again, at most so long for each.
 *
 *     npm run found -- --derive 60
 */
import { seededRandom } from "@setpoint/host/simulated";
import { type FoundSchedule, foundSchedules } from "../../operators/etcd/src/testing/found-schedules.ts";
import { asked, wholeNumber } from "../flags/asked.ts";
import { Judge, type Verdict } from "./judge.ts";
import { vary } from "./vary.ts";

const { values } = asked("found", { options: { derive: { type: "string" } } });
const seconds = values.derive === undefined ? 0 : wholeNumber("found", "derive", values.derive);

/** One that breaks a rule without the fix, and none with it; undefined when there was no time to find it. */
async function derived(schedule: FoundSchedule, without: Judge, fixed: Judge): Promise<FoundSchedule | undefined> {
  const random = seededRandom(schedule.seed);
  const endMs = performance.now() + seconds * 1_000;
  for (let tries = 0; performance.now() < endMs; tries++) {
    const near = vary(schedule, tries, random);
    if (breaks(await without.judge(near)) && isFine(await fixed.judge(near))) return near;
  }
  return undefined;
}

function breaks({ broken, hasStruck }: Verdict): boolean {
  return broken !== undefined && hasStruck;
}

function isFine({ broken, hasStruck }: Verdict): boolean {
  return broken === undefined && hasStruck;
}

function textOf({ seed, story, faults }: FoundSchedule): string {
  return JSON.stringify({ seed, story, faults });
}

let lost = 0;
await using fixed = new Judge([]);
for (const schedule of foundSchedules) {
  await using without = new Judge(schedule.without);
  const verdict = await without.judge(schedule);
  if (breaks(verdict) && isFine(await fixed.judge(schedule))) {
    console.log(`found   ${schedule.name}\n          ${verdict.broken}`);
    continue;
  }
  const near = await derived(schedule, without, fixed);
  if (near === undefined) lost++;
  console.log(`${near === undefined ? "lost   " : "derived"} ${schedule.name}`);
  if (near !== undefined) console.log(`          ${textOf(near)}`);
}
console.log(`${foundSchedules.length - lost} of ${foundSchedules.length} would be found`);
process.exitCode = lost === 0 ? 0 : 1;
