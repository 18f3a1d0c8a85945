/** Three members of etcd under the etcd operator. */
import { join } from "node:path";
import { EtcdCluster } from "@setpoint/etcd-operator";
import type { Example, Stage } from "../tours/example.ts";
import { applyFile } from "./install.ts";
import { showUntilRunning } from "./progress.ts";
import { ClusterUnderTour } from "./tour/cluster-under-tour.ts";
import { deleteCluster } from "./tour/steps.ts";
import { runTour } from "./tour/tour.ts";

const here = new URL(".", import.meta.url).pathname;
const manifests = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url).pathname;
/** The first start fetches images. */
const runningMsMax = 170_000;
const operator = { name: "etcd-operator", namespace: "setpoint-system" };

function underTour({ client }: Stage): ClusterUnderTour {
  return new ClusterUnderTour(client, "orders", "default", operator);
}

/**
 * Resolves when the example runs. One that is there keeps its size and version: people scale and upgrade it.
 */
async function install(stage: Stage): Promise<void> {
  const { client, print, isTour } = stage;
  const example = underTour(stage);
  print("Installing the etcd operator and examples/etcd/cluster.yaml …");
  await applyFile(client, manifests);
  const known = (await client.discover()).ofKind(EtcdCluster);
  const found = known === undefined ? undefined : await example.get().catch(() => undefined);
  if (found !== undefined && isTour) {
    // It cannot be brought back to the version from which the tour upgrades, and the tour removes it at its
    // end anyway.
    print(`  removing the EtcdCluster "${example.name}" of an earlier start: the tour begins with a new one`);
    await deleteCluster(example);
  }
  if (found === undefined || isTour) await applyFile(client, join(here, "cluster.yaml"));
  await showUntilRunning(example, print, runningMsMax);
}

async function show(stage: Stage): Promise<void> {
  const members = await underTour(stage).members();
  console.table(members.map(({ name, id, role, version, healthy }) => ({ name, id, role, version, healthy })));
}

export const etcdExample: Example = {
  install,
  show,
  commands: [
    "kubectl get etcdcluster orders -o wide",
    "kubectl exec $(kubectl get pod -l etcd.setpoint.dev/cluster=orders -o name | head -1) -- etcdctl put greeting hello",
    "kubectl scale etcdcluster/orders --replicas=5",
    "npx setpoint connect orders-client    # in another terminal: docs/connect.md shows a client for it",
    `kubectl patch etcdcluster orders --type=merge -p '{"spec":{"version":"3.5.16"}}'`,
  ],
  tour: (stage) => runTour(underTour(stage), stage.print),
};
