/**
 * Inside the cluster's network namespace: installs the operator and the example and runs the tour.
 * `tour.ts DIR`
 */
import { join } from "node:path";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { applyFile } from "../../examples/etcd/install.ts";
import { showUntilRunning } from "../../examples/etcd/progress.ts";
import { type AddressFromHere, ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { runTour } from "../../examples/etcd/tour/tour.ts";
import { checkOperatorMetrics } from "./operator-metrics.ts";
import { checkOperatorProcess } from "./operator-process.ts";
import { checkRefusedVolume } from "./refused-volume.ts";
import { createVolumes } from "./volumes.ts";

const manifests = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url).pathname;
const example = new URL("../../examples/etcd/cluster.yaml", import.meta.url).pathname;
/** The operator's own, as its manifests have it. */
const namespace = "setpoint-system";
const runningMsMax = 120_000;

/** The tour runs in the network of the pods and Services. */
const inTheirNetwork: AddressFromHere = (address) => address;

const print = (line: string): void => console.log(line);
const startedMs = performance.now();
const since = (): string => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;

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
  const operator = { name: "etcd-operator", namespace };
  const cluster = new ClusterUnderTour(client, "orders", "default", operator, inTheirNetwork);
  await showUntilRunning(cluster, print, runningMsMax);
  print(`Running ${since()} after the installation began. The tour:`);
  print(`  the operator's process: ${checkOperatorProcess()}`);
  print(`  the operator's metrics: ${await checkOperatorMetrics(client, namespace)}`);
  print(`  a volume that refuses members: ${await checkRefusedVolume(cluster, directory)}`);
  return await runTour(cluster, print);
}

const [directory = ""] = process.argv.slice(2);
process.exitCode = (await tour(directory)) ? 0 : 1;
