/**
 * Inside the cluster's network namespace: installs the operator and the example and runs the tour.
 * `tour.ts DIR`
 */
import { join } from "node:path";
import { PersistentVolume } from "@setpoint/api";
import { createClient, type Client } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { applyFile } from "../../examples/etcd/install.ts";
import { showUntilRunning } from "../../examples/etcd/progress.ts";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { runTour } from "../../examples/etcd/tour/tour.ts";
import { checkOperatorMetrics } from "./operator-metrics.ts";
import { checkOperatorProcess } from "./operator-process.ts";

const manifests = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url).pathname;
const example = new URL("../../examples/etcd/cluster.yaml", import.meta.url).pathname;
/** The operator's own, as its manifests have it. */
const namespace = "setpoint-system";
/** Five members at once, and one more for each member that the tour kills or adds: a volume is used once. */
const volumes = 12;
const runningMsMax = 120_000;

const print = (line: string): void => console.log(line);
const startedMs = performance.now();
const since = (): string => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;

/**
 * Folders of the node, for a cluster without a provisioner. Neither they nor the example's claims name a
 * class, so they are bound to each other.
 */
async function createVolumes(client: Client, directory: string): Promise<void> {
  for (let i = 0; i < volumes; i++) {
    const name = `local-${String(i).padStart(2, "0")}`;
    const volume = PersistentVolume({
      name,
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path: join(directory, "volumes", name), type: "DirectoryOrCreate" },
      },
    });
    await client.create(PersistentVolume, volume);
  }
}

async function tour(directory: string): Promise<boolean> {
  const host = systemHost({ write: (line) => void process.stderr.write(line) });
  await using transport = connect({
    clock: host.clock,
    kubeconfig: join(directory, "kubeconfig"),
    userAgent: "setpoint-e2e",
  });
  const client = createClient(transport, host);
  await createVolumes(client, directory);
  await applyFile(client, manifests);
  await applyFile(client, example);
  const cluster = new ClusterUnderTour(client, "orders", "default", { name: "etcd-operator", namespace });
  await showUntilRunning(cluster, print, runningMsMax);
  print(`Running ${since()} after the installation began. The tour:`);
  print(`  the operator's process: ${checkOperatorProcess()}`);
  print(`  the operator's metrics: ${await checkOperatorMetrics(client, namespace)}`);
  return await runTour(cluster, print);
}

const [directory = ""] = process.argv.slice(2);
process.exitCode = (await tour(directory)) ? 0 : 1;
