/** An exploration by threads that is cut off and goes on. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { coverageOf } from "../explore/coverage.ts";
import type { Moment } from "./exploration-log.ts";
import { exploreModule, type ModuleOptions } from "./explore-module.ts";
import type { ProgressData } from "./progress.ts";

const module = new URL("./explored.fixture.ts", import.meta.url);

function setUp(): ModuleOptions & { readonly resume: string } {
  const folder = mkdtempSync(join(tmpdir(), "explored-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { resume: join(folder, "progress.json"), traceFolder: folder, workers: 2 };
}

function kept(file: string): ProgressData {
  return JSON.parse(readFileSync(file, "utf8")) as ProgressData;
}

test("random schedules and pairs add up over explorations, and none is run twice", async () => {
  const options = setUp();
  const first = await exploreModule(module, { ...options, swarm: 10, pairs: 6 });
  expect(first).toMatchObject({ failures: [], isComplete: true, total: { random: 10, pairs: 6 } });
  expect(kept(options.resume).swarm).toEqual({ "is made": [[0, 4]], "is changed": [[0, 4]] });
  const second = await exploreModule(module, { ...options, swarm: 24, pairs: 10 });
  expect(second).toMatchObject({ failures: [], isComplete: true, total: { random: 24, pairs: 10 }, pairs: { run: 4 } });
  // What was run before is neither run nor forgotten.
  expect(second.schedules).toBeLessThan(first.schedules);
  const { cells, visited } = coverageOf(second.coverage);
  expect(visited).toBe(cells);
});

test("with enough pairs every first fault is followed by all that comes after it", async () => {
  const { pairs, total } = await exploreModule(module, { ...setUp(), workers: 1, pairs: 2_000 });
  expect(pairs.firstsDone).toBe(pairs.firsts);
  expect(pairs.run).toBe(total.pairs);
  expect(pairs.skipped).toBeGreaterThan(0);
});

test("an exploration without time counts nothing as done", async () => {
  const options = setUp();
  const cut = await exploreModule(module, { ...options, workers: 1, swarm: 8, seconds: 0 });
  expect(cut).toMatchObject({ isComplete: false, total: { random: 0, pairs: 0 } });
  expect(kept(options.resume)).toMatchObject({ visited: [], swarm: {} });
});

test("a failure stays in the file until its schedule has gone well", async () => {
  const options = { ...setUp(), workers: 1, failuresMax: 100 };
  process.env["EXPLORED_IS_WRONG"] = "yes";
  const wrong = await exploreModule(module, options).finally(() => delete process.env["EXPLORED_IS_WRONG"]);
  expect(wrong.failures.length).toBeGreaterThan(0);
  expect(wrong.failures[0]?.text).toContain("once more: repro:");
  const { failures, visited } = kept(options.resume);
  expect(failures.length).toBe(wrong.failures.length);
  for (const { name } of failures) expect(visited).not.toContain(name);
  const fixed = await exploreModule(module, options);
  expect(fixed).toMatchObject({ failures: [], isComplete: true });
  expect(kept(options.resume).failures).toEqual([]);
});

test("it says how far it has come", async () => {
  const moments: Moment[] = [];
  let now = 0;
  const clock = { monotonic: () => (now += 20_000), now: () => 0, setTimer: () => ({ cancel: () => {} }) };
  await exploreModule(module, {
    ...setUp(),
    workers: 1,
    swarm: 4,
    clock: clock as unknown as NonNullable<ModuleOptions["clock"]>,
    onProgress: (moment) => moments.push(moment),
  });
  expect(moments.at(-1)).toMatchObject({ random: 4, pairs: 0, failures: 0, last: "is changed swarm 1" });
});
