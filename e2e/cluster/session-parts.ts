/** The inside of a session: the first process of its namespaces brings the cluster up and takes it down. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MachineState, makeFoldersPrivate } from "./isolation.ts";
import { RealCluster } from "./real-cluster.ts";
import { timed } from "./timed.ts";

/** What runs while the cluster is up; resolves to whether it went well. */
export type SessionWork = (cluster: RealCluster, directory: string, signal: AbortSignal) => Promise<boolean>;

/** Of a script that `runRealSession` starts. Ends early when its standard input ends. */
export async function runSession(argv: readonly string[], work: SessionWork): Promise<void> {
  const [script = "", bin = "", directory = ""] = argv;
  const stopping = new AbortController();
  const { signal } = stopping;
  process.stdin.once("end", () => stopping.abort()).resume();
  // Here too, because the process outside may be killed.
  using _machine = new MachineState();
  makeFoldersPrivate(join(directory, "private"));
  const cluster = new RealCluster({ script, bin }, directory);
  try {
    await timed("the cluster is up", () => cluster.up(signal));
    await timed("the node has the images", () => loadImages(cluster, directory, signal));
    process.exitCode = (await work(cluster, directory, signal)) ? 0 : 1;
  } catch (error) {
    if (!signal.aborted) console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await timed("the cluster is down", () => cluster[Symbol.asyncDispose]());
    process.stdin.destroy();
  }
}

async function loadImages(cluster: RealCluster, directory: string, signal: AbortSignal): Promise<void> {
  const folder = join(directory, "images");
  for (const name of readdirSync(folder)) await cluster.load(join(folder, name), signal);
  rmSync(folder, { recursive: true });
}
