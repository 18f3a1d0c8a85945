import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// An older Node cannot read the sources, and names a line of theirs.
if (Number(process.versions.node.split(".")[0]) < 24) {
  process.stderr.write(
    `Cannot run the tests with Node ${process.version}: they need Node 24 or newer; "npx vitest" uses that of node_modules.\n`,
  );
  process.exit(1);
}

// Packages resolve to their sources, so nothing must be built to run a test.
const resolve = { conditions: ["@setpoint/source"] };
const ssr = { resolve };
// More room for young objects, and no guess that those of the next world live long because those of the first
// did: 10 to 25 % less CPU in packages/testing/src/engine.scenario.test.ts (4.5 and 5.9 s with the flags, 5.0
// and 7.8 s without, in turn).
const room = ["--max-semi-space-size=64", "--min-semi-space-size=64", "--no-allocation-site-pretenuring"];
// Under the gate (tools/gate/run.ts), a test with real processes and real time may be tried once more; the
// gate names each test that needed it. Elsewhere, and for everything that runs in simulated time, the first
// failure counts.
const gateResult = process.env["SETPOINT_GATE_RESULT"];
const realTime = ["e2e", "long", "attack", "attack-load"];
const built = ["e2e", "long", "attack", "etcd", "postgres", "prometheus", "public"];
// Files of these share a process, which loads each module once: all units take 107 s of CPU, and 238 s with a
// process for each file; a file of simulated worlds takes 1.3 s less.
const shared = ["unit", "sim"];
// Most of an end-to-end test is waiting for elections, probes and periods: its files need a quarter of a
// core each.
const waiting = { maxWorkers: 4, sequence: { groupOrder: 1 } };
// Wherever nothing is known of earlier runs, these take minutes, so they must not begin last.
const longest = /\/e2e\/(etcd|[^/]*\.long\.)[^/]*test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(longest.test(b.moduleId)) - Number(longest.test(a.moduleId)));
  }
}

const newerEtcd = ["e2e/etcd36/**/*.test.ts", "e2e/etcd-logins/**/*.test.ts", "e2e/etcd-disk/**/*.test.ts"];
const long = ["e2e/*.long.test.ts"];
const postgres = ["e2e/postgres/**/*.test.ts"];
const prometheus = ["e2e/prometheus/**/*.test.ts"];
const gcs = ["e2e/gcs/**/*.test.ts"];
const publicOperators = ["e2e/public-operators/**/*.test.ts"];

const project = (name: string, include: string[], timeout: number, fileParallelism = true) => ({
  resolve,
  ssr,
  test: {
    name,
    include,
    testTimeout: timeout,
    hookTimeout: timeout,
    fileParallelism,
    isolate: !shared.includes(name),
    ...(built.includes(name) ? waiting : {}),
    globalSetup: [
      ...(built.includes(name) ? ["./e2e/build-first.ts"] : []),
      ...(name === "etcd" ? ["./e2e/etcd36/images-first.ts"] : []),
      ...(realTime.includes(name) ? ["./e2e/report-leftovers.ts"] : []),
    ],
    environment: "node",
    retry: gateResult !== undefined && realTime.includes(name) ? 1 : 0,
    execArgv: name === "sim" ? room : [],
  },
});

export default defineConfig({
  resolve,
  ssr,
  test: {
    ...(gateResult === undefined ? {} : { reporters: ["dot", ["./tools/gate/reporter.ts", { file: gateResult }]] }),
    // Vitest leaves a core to itself, and of two that is half the machine.
    maxWorkers: "100%",
    sequence: { sequencer: LongestFirst },
    projects: [
      project(
        "unit",
        ["packages/*/src/**/*.test.ts", "operators/*/src/**/*.test.ts", "tools/**/*.test.ts", "!**/*.scenario.test.ts"],
        20_000,
      ),
      project(
        "sim",
        [
          "packages/*/src/**/*.scenario.test.ts",
          "operators/*/src/**/*.scenario.test.ts",
          "tools/**/*.scenario.test.ts",
          "examples/*/*.test.ts",
          "!**/*.laws.scenario.test.ts",
        ],
        120_000,
      ),
      // Explorations use all cores themselves and have a time of their own, so they run one after the other.
      project("laws", ["{packages,operators}/*/src/**/*.laws.scenario.test.ts"], 300_000, false),
      project(
        "e2e",
        [
          "e2e/**/*.test.ts",
          ...[...newerEtcd, ...long, ...gcs, ...postgres, ...prometheus, ...publicOperators, "e2e/attack/**"].map(
            (each) => `!${each}`,
          ),
        ],
        300_000,
      ),
      // A minute and more each: only `npm test -- --all` runs them.
      project("long", long, 300_000),
      // Minutes of real etcd, and releases that are built first: outside of the gate.
      project("etcd", newerEtcd, 600_000),
      // Minutes of failovers of real PostgreSQL, one file after the other: outside of the gate.
      project("postgres", postgres, 900_000, false),
      // Minutes of a real Prometheus, one file after the other: outside of the gate.
      project("prometheus", prometheus, 900_000, false),
      // A server that takes minutes to build at the first run: outside of the gate.
      project("gcs", gcs, 1_800_000),
      // Programs that take minutes to build at the first run: outside of the gate, one cluster at a time.
      project("public", publicOperators, 1_800_000, false),
      project("attack", ["e2e/attack/**/*.test.ts", "!**/*.load.test.ts"], 300_000),
      // These measure latency and memory of a server under load, so they run one after the other.
      project("attack-load", ["e2e/attack/**/*.load.test.ts"], 300_000, false),
    ],
  },
});
