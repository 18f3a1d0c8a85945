/**
 * `npm run e2e:cluster`: the etcd operator on a genuine Kubernetes, with the manifests, the example and the tour that
 * `npm start -- --exit` uses. Where no such cluster can be had it says why and ends well.
 */
import { rmSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { imageArchives } from "./image-archives.ts";
import { findReference, RealCluster, type Reference } from "./real-cluster.ts";

const tourScript = new URL("tour.ts", import.meta.url).pathname;

async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await run();
  console.log(`  ${((performance.now() - startedMs) / 1000).toFixed(1).padStart(5)} s  ${what}`);
  return result;
}

async function loadImages(cluster: RealCluster, signal: AbortSignal): Promise<void> {
  for await (const { image, archive } of imageArchives(join(cluster.directory, "build"))) {
    signal.throwIfAborted();
    await timed(`loaded ${image}`, () => cluster.load(archive, signal));
    rmSync(archive);
  }
}

async function runOn(cluster: RealCluster, signal: AbortSignal): Promise<boolean> {
  await timed("the cluster is up", () => cluster.up(signal));
  await timed("the node has the images", () => loadImages(cluster, signal));
  const node = [process.execPath, "--conditions=@setpoint/source", tourScript, cluster.directory];
  const holds = (await cluster.exec(node, signal)) === 0;
  if (!holds && !signal.aborted) await describe(cluster, signal);
  return holds;
}

/** What a person wants to see first when the tour fails. */
async function describe(cluster: RealCluster, signal: AbortSignal): Promise<void> {
  const kubectl = [cluster.kubectl, "--kubeconfig", cluster.kubeconfig];
  await cluster.exec([...kubectl, "get", "pods", "-A", "-o", "wide"], signal);
  await cluster.exec([...kubectl, "get", "events", "-A", "--sort-by=.lastTimestamp"], signal);
  await cluster.exec([...kubectl, "logs", "-n", "setpoint-system", "deployment/etcd-operator", "--tail=40"], signal);
}

async function run(reference: Reference): Promise<boolean> {
  const stopping = new AbortController();
  // For good, not once: a second ^C must not keep the cluster from being taken down.
  for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stopping.abort(new Error(`Stopped by ${name}`)));
  const cluster = new RealCluster(reference);
  let holds = false;
  try {
    holds = await runOn(cluster, stopping.signal);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  } finally {
    await timed("the cluster is down", () => cluster[Symbol.asyncDispose]());
  }
  const left = cluster.leftovers();
  if (left.length > 0) console.error(`Left behind: ${left.join(", ")}`);
  return holds && left.length === 0;
}

const reference = findReference();
if (typeof reference === "string") {
  console.log(`skipped: ${reference}`);
} else {
  console.log(`A real Kubernetes, for the etcd operator (load ${loadavg()[0]?.toFixed(1)}):`);
  const holds = await run(reference);
  console.log(holds ? `All steps hold (load ${loadavg()[0]?.toFixed(1)}).` : "The tour failed.");
  process.exitCode = holds ? 0 : 1;
}
