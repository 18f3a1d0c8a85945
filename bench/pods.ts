/**
 * Pods by the hundred: `npm run bench:pods -- [PODS] [MANY] [--reference-first]`. Part 1 creates PODS (100)
 * at once on `setpoint up` and on a genuine one-node Kubernetes, one after the other. Part 2 creates MANY
 * (1,000) on `setpoint up` alone, on as many nodes as they need. A 0 leaves a part out.
 */
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { findReference } from "../e2e/cluster/reference.ts";
import { type Amount, measureOurs, measureReference, nodesFor } from "./pods/clusters.ts";
import type { Measurement } from "./pods/measurement.ts";
import { failures, printReport } from "./pods/report.ts";

type Cluster = readonly [name: string, measure: () => Promise<Measurement>];

const ours = "setpoint up";
const genuine = "genuine";
const stopping = new AbortController();
const { signal } = stopping;

async function compare(amount: Amount, referenceFirst: boolean): Promise<void> {
  const reference = findReference();
  if (typeof reference === "string") console.log(`${genuine} skipped: ${reference}`);
  const clusters: readonly Cluster[] = [
    [ours, () => measureOurs(amount, signal)],
    ...(typeof reference === "string" ? [] : [[genuine, () => measureReference(reference, amount, signal)] as const]),
  ];
  const ordered = referenceFirst ? clusters.toReversed() : clusters;
  console.log(`${amount.pods} pods on one node, in this order: ${ordered.map(([name]) => name).join(", ")}`);
  await measureAndPrint(ordered);
}

async function measureAndPrint(clusters: readonly Cluster[]): Promise<void> {
  const columns: Record<string, Measurement> = {};
  for (const [name, measure] of clusters) columns[name] = await measure();
  printReport(columns);
  if (Object.values(columns).some((each) => failures(each).length > 0)) process.exitCode = 1;
}

for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stopping.abort(new Error(`Stopped by ${name}`)));
const { values, positionals } = parseArgs({
  options: { "reference-first": { type: "boolean", default: false } },
  allowPositionals: true,
});
const [pods = 100, many = 1_000] = positionals.map(Number);
console.log(`Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
if (pods > 0) await compare({ pods, idleSeconds: 20 }, values["reference-first"]);
if (many > 0) {
  console.log(`\n${many} pods on ${nodesFor(many)} nodes`);
  await measureAndPrint([[ours, () => measureOurs({ pods: many, idleSeconds: 30 }, signal)]]);
}
