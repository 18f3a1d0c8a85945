/**
 * A thread in which the sources are as they are but for some edits; it runs schedules of the etcd operator
 * and says what they break.
 */
import { enableCompileCache, registerHooks } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Edit, FoundSchedule } from "../../operators/etcd/src/testing/found-schedules.ts";
import type { Verdict } from "./judge.ts";

// The parsing border: started by `Judge` only.
const edits = workerData as readonly Edit[];

const loadedFiles = new Set<string>();

// Threads reuse compiled sources: loading takes 0.9 s of CPU in place of 1.8 s.
enableCompileCache();

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const here = edits.filter(({ file }) => url.endsWith(`/${file}`));
    if (here.length === 0) return loaded;
    for (const { file } of here) loadedFiles.add(file);
    return { ...loaded, source: here.reduce(edited, String(loaded.source)) };
  },
});

function edited(source: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = source.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(
      `Cannot take a fix out of ${file}: ${JSON.stringify(from)} stands there ${more.length + (after === undefined ? 0 : 1)} times, expected once`,
    );
  return before + to + after;
}

const { replaySchedule } = await import("@setpoint/testing");
const { etcdSetting } = await import("../../operators/etcd/src/testing/etcd-setting.ts");
const { options, worlds } = await import("../../operators/etcd/src/testing/etcd-worlds.ts");

// A file that was moved is never loaded, and its edit would do nothing.
for (const { file } of edits)
  if (!loadedFiles.has(file)) throw new Error(`Cannot take a fix out of ${file}: no such file is loaded`);

async function judge({ seed, story, faults }: FoundSchedule): Promise<Verdict> {
  const { broken, struck } = await replaySchedule(
    etcdSetting,
    { ...options, worlds },
    JSON.stringify({ seed, story, faults }),
  );
  const [rule] = broken;
  return {
    hasStruck: JSON.stringify(struck.map(({ fault }) => fault)) === JSON.stringify(faults),
    ...(rule === undefined ? {} : { broken: `${rule.oracle}: ${rule.sentence.split("\n", 1).join()}` }),
  };
}

parentPort?.on("message", (schedule: FoundSchedule) => {
  void judge(schedule).then((verdict) => parentPort?.postMessage(verdict));
});
