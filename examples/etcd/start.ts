/**
 * `npm start`: an embedded cluster, the etcd operator installed as on any cluster, and a three-member etcd.
 */
import { dirname, join, relative } from "node:path";
import { EtcdCluster } from "@setpoint/etcd-operator";
import {
  parseUpOptions,
  prepareFolder,
  sentenceOf,
  startCluster,
  untilSignal,
  writeText,
  type UpOptions,
} from "@setpoint/cli";
import { isSetpointError, SetpointError } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { systemClock } from "@setpoint/host/system";
import { applyFile } from "./install.ts";
import { showUntilRunning } from "./progress.ts";
import { ClusterUnderTour } from "./tour/cluster-under-tour.ts";
import { deleteCluster } from "./tour/steps.ts";
import { runTour } from "./tour/tour.ts";

const here = new URL(".", import.meta.url).pathname;
const manifests = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url).pathname;
/** The first start fetches images. */
const runningMsMax = 170_000;

const args = process.argv.slice(2);
const exits = args.includes("--exit");
const startedMs = systemClock.monotonic();
const since = (): string => `${((systemClock.monotonic() - startedMs) / 1000).toFixed(1)} s`;

async function start(options: UpOptions): Promise<number> {
  const print = (line: string): void => {
    if (!options.quiet) console.log(line);
  };
  const stopped = untilSignal();
  const interrupted = stopped.then((signal): never => {
    print("\nStopping …");
    throw new SetpointError("ERR_STOPPED", `Stopped by ${signal}`);
  });
  interrupted.catch(() => {});
  if (options.directory !== undefined) prepareFolder("data directory", options.directory);
  prepareFolder("the kubeconfig's folder", dirname(options.kubeconfig));
  print("Starting the control plane and a node …");
  await using cluster = await startCluster({ ...options, say: print });
  writeText("the kubeconfig", options.kubeconfig, cluster.kubeconfig, 0o600);
  print(`  ready after ${since()}: ${cluster.url}`);
  const client = createClient(cluster.transport, cluster.host);
  const example = new ClusterUnderTour(client, "orders", "default", {
    name: "etcd-operator",
    namespace: "setpoint-system",
  });
  await Promise.race([install(example, print), interrupted]);
  print("");
  if (!options.quiet) await showMembers(example);
  if (!exits) {
    print(commandsToTry(options.kubeconfig));
    await stopped;
    return 0;
  }
  print(`Ready after ${since()}. The tour:`);
  const holds = await Promise.race([runTour(example, print), interrupted]);
  print(holds ? `All steps hold (${since()} in all).` : "The tour failed.");
  return holds ? 0 : 1;
}

/**
 * Resolves when the example runs. One that is there keeps its size and version: people scale and upgrade it.
 */
async function install(example: ClusterUnderTour, print: (line: string) => void): Promise<void> {
  const { client } = example;
  print("Installing the etcd operator and examples/etcd/cluster.yaml …");
  await applyFile(client, manifests);
  const known = (await client.discover()).ofKind(EtcdCluster);
  const found = known === undefined ? undefined : await example.get().catch(() => undefined);
  if (found !== undefined && exits) {
    // It cannot be brought back to the version from which the tour upgrades, and the tour removes it at its
    // end anyway.
    print(`  removing the EtcdCluster "${example.name}" of an earlier start: the tour begins with a new one`);
    await deleteCluster(example);
  }
  if (found === undefined || exits) await applyFile(client, join(here, "cluster.yaml"));
  await showUntilRunning(example, print, runningMsMax);
}

async function showMembers(cluster: ClusterUnderTour): Promise<void> {
  console.table(
    (await cluster.members()).map(({ name, id, role, version, healthy }) => ({ name, id, role, version, healthy })),
  );
}

function commandsToTry(kubeconfig: string): string {
  const lines = [
    "kubectl get etcdcluster orders -o wide",
    "kubectl exec $(kubectl get pod -l etcd.setpoint.dev/cluster=orders -o name | head -1) -- etcdctl put greeting hello",
    "kubectl scale etcdcluster/orders --replicas=5",
    "npx setpoint connect orders-client    # in another terminal: docs/connect.md shows a client for it",
    `kubectl patch etcdcluster orders --type=merge -p '{"spec":{"version":"3.5.16"}}'`,
  ];
  const shown = relative(process.cwd(), kubeconfig);
  return `Ready after ${since()}. Try:\n\n  export KUBECONFIG=${shown}\n${lines.map((line) => `  ${line}`).join("\n")}\n\n^C stops everything; the next start finds it again.`;
}

/**
 * What still waits for a cluster that has been stopped must not keep the process: it would wait for minutes.
 */
async function end(): Promise<never> {
  try {
    process.exit(await start(parseUpOptions(args.filter((arg) => arg !== "--exit"))));
  } catch (error) {
    console.error(sentenceOf(error));
    process.exit(isSetpointError(error, "ERR_USAGE") ? 2 : 1);
  }
}

await end();
