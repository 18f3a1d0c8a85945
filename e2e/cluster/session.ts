/**
 * The first process of a namespace of its own: brings a cluster up, gives it the images and runs the tour in
 * its network. `session.ts SCRIPT BIN DIR`; ends early when its standard input ends.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MachineState, makeFoldersPrivate } from "./isolation.ts";
import { RealCluster } from "./real-cluster.ts";
import { timed } from "./timed.ts";

const tourScript = new URL("tour.ts", import.meta.url).pathname;
const [script = "", bin = "", directory = ""] = process.argv.slice(2);
const stopping = new AbortController();
const { signal } = stopping;

async function loadImages(cluster: RealCluster): Promise<void> {
  const folder = join(directory, "images");
  for (const name of readdirSync(folder)) await cluster.load(join(folder, name), signal);
  rmSync(folder, { recursive: true });
}

async function runTour(cluster: RealCluster): Promise<boolean> {
  await timed("the cluster is up", () => cluster.up(signal));
  await timed("the node has the images", () => loadImages(cluster));
  const holds =
    (await cluster.exec([process.execPath, "--conditions=@setpoint/source", tourScript, directory], signal)) === 0;
  if (!holds && !signal.aborted) await describe(cluster);
  return holds;
}

/** What a person wants to see first when the tour fails. */
async function describe(cluster: RealCluster): Promise<void> {
  await cluster.kubectl(["get", "pods,etcdclusters,persistentvolumeclaims", "-A", "-o", "wide"], signal);
  await cluster.kubectl(["get", "events", "-A", "--field-selector=type!=Normal"], signal);
  await cluster.kubectl(["logs", "-n", "setpoint-system", "deployment/etcd-operator", "--tail=40"], signal);
}

process.stdin.once("end", () => stopping.abort()).resume();
// Here too, because the process outside may be killed.
using _machine = new MachineState();
makeFoldersPrivate(join(directory, "private"));
const cluster = new RealCluster({ script, bin }, directory);
try {
  process.exitCode = (await runTour(cluster)) ? 0 : 1;
} catch (error) {
  if (!signal.aborted) console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await timed("the cluster is down", () => cluster[Symbol.asyncDispose]());
  process.stdin.destroy();
}
