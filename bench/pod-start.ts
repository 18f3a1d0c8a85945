/**
 * From the creation of a pod until a client sees it Running: pods of one node, one after the other, the image
 * made before. `node --conditions=@setpoint/source bench/pod-start.ts [PODS]`
 */
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import { startCluster } from "@setpoint/cli";
import { createClient, type KindRef } from "@setpoint/client";
import { systemClock } from "@setpoint/host/system";
import { toolsImage, toolsImageSource } from "../e2e/node/tools-image.ts";

interface PodView extends KubeObject {
  readonly status?: { readonly phase?: string };
}

const kind: KindRef<PodView> = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
const [count = "15"] = process.argv.slice(2);
/** The first pods make the image and warm the code. */
const warmUp = 2;
const startMsMax = 20_000;
const restMs = 150;

const localImages = { [toolsImage]: toolsImageSource };
await using cluster = await startCluster({ directory: undefined, port: 0, nodes: 1, localImages, say: () => {} });
const client = createClient(cluster.transport, { clock: systemClock, random: cluster.host.random });

async function phase(name: string): Promise<string> {
  try {
    return (await client.get(kind, { namespace: "default", name })).status?.phase ?? "";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    throw error;
  }
}

async function until(name: string, wanted: string): Promise<void> {
  const deadline = performance.now() + startMsMax;
  while ((await phase(name)) !== wanted) {
    if (performance.now() > deadline) throw new Error(`Pod "${name}" is not ${wanted} after ${startMsMax} ms`);
    await pause(3);
  }
}

async function startMs(name: string): Promise<number> {
  const containers = [{ name: "main", image: toolsImage, command: ["sleep", "1000"] }];
  const spec = { terminationGracePeriodSeconds: 0, containers };
  const begin = performance.now();
  await client.create(kind, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name },
    spec,
  } as PodView);
  await until(name, "Running");
  const took = performance.now() - begin;
  await client.delete(kind, { namespace: "default", name });
  await until(name, "gone");
  await pause(restMs);
  return took;
}

const times: number[] = [];
for (let index = -warmUp; index < Number(count); index++) {
  const took = await startMs(`pod-${index + warmUp}`);
  if (index >= 0) times.push(took);
}
times.sort((a, b) => a - b);
const at = (part: number): string => (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(0);
const load = loadavg()[0]?.toFixed(1);
console.log(`create → Running: median ${at(0.5)} ms, least ${at(0)}, most ${at(1)}, of ${times.length}; load ${load}`);
