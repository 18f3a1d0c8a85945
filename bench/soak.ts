/**
 * A week of virtual time with 2,000 objects: random changes, cut and silent watches, restarts; every day ends with an hour of
 * rest, in which nothing may be written, nothing may be missed and the heap is measured after a full collection.
 * Run: node --expose-gc --conditions=@setpoint/source bench/soak.ts [days] [objects]
 */
import { getHeapStatistics } from "node:v8";
import { soak, type SoakDay } from "../packages/runtime/src/manager/soak.fixture.ts";

const days = Number(process.argv[2] ?? "7");
const objects = Number(process.argv[3] ?? "2000");
const seed = Number(process.env["SEED"] ?? "1");
/** Of the heap, from day to day: a leak of one object a change would be more. */
const toleranceMax = 0.02;
/** The days at the end whose heaps are compared with each other. */
const settledDays = 4;

function heapBytes(): number {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  for (let i = 0; i < 4; i++) globalThis.gc();
  return getHeapStatistics().used_heap_size;
}

function problemsOf(day: SoakDay): readonly string[] {
  const { writesAtRest, isQuiet, isReady, staleObjects, unfinished } = day;
  return [
    ...(writesAtRest === 0 ? [] : [`${writesAtRest} writes at rest`]),
    ...(isQuiet ? [] : ["the queue is not empty"]),
    ...(isReady ? [] : ["not ready"]),
    ...(staleObjects === 0 ? [] : [`${staleObjects} objects of the cache are stale`]),
    ...(unfinished === 0 ? [] : [`${unfinished} objects are not as wanted`]),
  ];
}

const startedMs = performance.now();
const seen: SoakDay[] = [];
let isWell = true;
for await (const day of soak({ seed, days, objects, changeEveryMs: 30_000, heapBytes })) {
  seen.push(day);
  const problems = problemsOf(day);
  isWell &&= problems.length === 0;
  const { changes, writes, restarts, cuts, silences } = day;
  console.log(
    `day ${day.day}: heap ${(day.heapBytes / 1_048_576).toFixed(2)} MB; ${changes} changes, ${writes} writes, ${restarts} restarts, ${cuts} cuts, ${silences} silences; at rest: ${problems.length === 0 ? "well" : problems.join(", ")}`,
  );
}
// The heap of the first days is higher: V8 gives something of the start back in one step, on one of the first days.
const levels = seen.map((day) => day.heapBytes);
const settled = levels.slice(-settledDays);
const mean = settled.reduce((sum, level) => sum + level, 0) / settled.length;
const deviation = Math.max(...settled.map((level) => Math.abs(level / mean - 1)));
const growth = (levels.at(-1) ?? 0) / (levels[1] ?? levels[0] ?? 1) - 1;
isWell &&= deviation <= toleranceMax && growth <= toleranceMax;
const percent = (part: number): string => `${(part * 100).toFixed(2)} %`;
console.log(
  `heap: ${percent(growth)} from day 2 to day ${days}; the last ${settled.length} days are within ${percent(deviation)} of their mean (allowed: ${percent(toleranceMax)}); ${((performance.now() - startedMs) / 1_000).toFixed(0)} s of real time`,
);
process.exitCode = isWell ? 0 : 1;
