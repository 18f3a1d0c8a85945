/** A fixed part of the suite that takes few minutes, for CI. */
import { type CaseResult, groupOf, runsAlone } from "./case.ts";

const secondsMax = 10;
const casesPerGroup = 8;

/** From each group a few short cases that passed in the last whole run, spread over its names. */
export function fastPart(results: readonly CaseResult[]): readonly string[] {
  const short = results.filter(
    ({ name, outcome, seconds }) => outcome === "passed" && seconds <= secondsMax && !runsAlone(name),
  );
  return [...Map.groupBy(short, ({ name }) => groupOf(name)).values()].flatMap((group) => spread(group));
}

function spread(group: readonly CaseResult[]): readonly string[] {
  const names = group.map(({ name }) => name).sort();
  const step = Math.max(1, Math.floor(names.length / casesPerGroup));
  return names.filter((_, i) => i % step === 0).slice(0, casesPerGroup);
}
