/**
 * Explores an operator: every single fault, then pairs, then random schedules, for as long as it is given.
 *
 *     npm run explore -- operators/etcd/src/testing/etcd-worlds.ts --seconds 600 --pairs 5000 --swarm 1000 --resume FILE
 *
 * The module exports `subject`, `worlds` and perhaps `options`. What was visited is kept in FILE, so that the next run goes on.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { coverageOf, coverageTable, exploreModule } from "@setpoint/testing";

const moduleDefault = "operators/etcd/src/testing/etcd-worlds.ts";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string" },
    pairs: { type: "string" },
    swarm: { type: "string" },
    workers: { type: "string" },
    seed: { type: "string" },
    world: { type: "string" },
    resume: { type: "string" },
    failures: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});

function count(name: string, text: string | undefined): Record<string, number> {
  return text === undefined ? {} : { [name]: Number(text) };
}

const found = await exploreModule(pathToFileURL(resolve(positionals[0] ?? moduleDefault)), {
  ...count("seconds", values.seconds),
  ...count("pairs", values.pairs),
  ...count("swarm", values.swarm),
  ...count("workers", values.workers),
  ...count("seed", values.seed),
  ...count("failuresMax", values.failures),
  thorough: !values.quick,
  ...(values.world === undefined ? {} : { world: values.world }),
  ...(values.resume === undefined ? {} : { resume: resolve(values.resume) }),
});

const { cells, visited } = coverageOf(found.coverage);
const seconds = found.tookMs / 1_000;
console.log(coverageTable(found.coverage));
for (const { text } of found.failures) console.log(`\n${text}`);
console.log(
  `\n${found.schedules} schedules in ${seconds.toFixed(0)} s (${(found.schedules / seconds).toFixed(0)}/s); ` +
    `${visited} of ${cells} cells; ${found.pairs.run} pairs, ${found.pairs.skipped} led to states seen before; ` +
    `${found.failures.length} failures${found.isComplete ? "" : "; cut off by the time or by failures"}`,
);
process.exitCode = found.failures.length === 0 ? 0 : 1;
