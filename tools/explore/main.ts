/**
 * Explores an operator: every single fault, then pairs, then random schedules, for as long as it is given.
 *
 *     npm run explore -- operators/etcd/src/testing/etcd-worlds.ts --seconds 600 --pairs 5000 --swarm 1000
 *     --resume FILE
 *
 * The module exports `subject`, `worlds` and perhaps `options`. What was run, and what has failed, is kept in
 * FILE: the same command goes on there until all is done.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { coverageOf, coverageTable, exploreModule } from "@setpoint/testing";
import { asked, refuse, wholeNumber } from "../flags/asked.ts";

const moduleDefault = "operators/etcd/src/testing/etcd-worlds.ts";
const options = {
  seconds: { type: "string" },
  pairs: { type: "string" },
  swarm: { type: "string" },
  workers: { type: "string" },
  seed: { type: "string" },
  world: { type: "string" },
  resume: { type: "string" },
  failures: { type: "string" },
  quick: { type: "boolean", default: false },
  "no-singles": { type: "boolean", default: false },
} as const;

/** The module's address; the threads of the exploration import it for themselves. */
async function explorable(file: string): Promise<URL> {
  const path = resolve(file);
  if (!existsSync(path)) refuse(`Cannot explore "${file}": there is no such file`);
  const url = pathToFileURL(path);
  const { subject, worlds } = (await import(url.href)) as Readonly<Record<string, unknown>>;
  if (subject === undefined || !Array.isArray(worlds))
    refuse(
      `Cannot explore "${file}": expected a module that exports \`subject\` and a list \`worlds\` (docs/exploring.md)`,
    );
  return url;
}

function count(name: string, text: string | undefined, flag = name): Record<string, number> {
  return text === undefined ? {} : { [name]: wholeNumber("explore", flag, text) };
}

const { values, positionals } = asked("explore", { allowPositionals: true, options });
const found = await exploreModule(await explorable(positionals[0] ?? moduleDefault), {
  ...count("seconds", values.seconds),
  ...count("pairs", values.pairs),
  ...count("swarm", values.swarm),
  ...count("workers", values.workers),
  ...count("seed", values.seed),
  ...count("failuresMax", values.failures, "failures"),
  thorough: !values.quick,
  singles: !values["no-singles"],
  ...(values.world === undefined ? {} : { world: values.world }),
  ...(values.resume === undefined ? {} : { resume: resolve(values.resume) }),
  onProgress({ tookMs, runs, random, pairs, failures, last }) {
    const rate = (runs / (tookMs / 1_000)).toFixed(0);
    console.error(
      `${(tookMs / 1_000).toFixed(0).padStart(6)} s  ${rate}/s  ${random} random schedules, ${pairs} pairs, ${failures} failures; ${last}`,
    );
  },
  onFailure: (text) => console.error(text.slice(0, text.indexOf("\n"))),
});

const { cells, visited } = coverageOf(found.coverage);
const seconds = found.tookMs / 1_000;
console.log(coverageTable(found.coverage));
for (const { text } of found.failures) console.log(`\n${text}`);
const { run, skipped, firsts, firstsDone } = found.pairs;
const share = firsts === 0 ? "" : `; ${firstsDone} of ${firsts} first faults followed by all that comes after them`;
console.log(
  `\n${found.schedules} schedules in ${seconds.toFixed(0)} s (${(found.schedules / seconds).toFixed(0)}/s); ` +
    `${visited} of ${cells} cells; ${run} pairs, ${skipped} led to states seen before${share}; ` +
    `in all ${found.total.random} random schedules and ${found.total.pairs} pairs; ` +
    `${found.failures.length} open failures${found.isComplete ? "" : "; cut off by the time or by failures"}`,
);
process.exitCode = found.failures.length === 0 ? 0 : 1;
