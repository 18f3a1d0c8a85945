/** Three instances of PostgreSQL under the PostgreSQL operator, with an archive. */
import { join } from "node:path";
import { PostgresCluster } from "@setpoint/postgres-operator";
import { applyFile } from "../etcd/install.ts";
import type { Example, Stage } from "../tours/example.ts";
import { PostgresUnderTour } from "./tour/postgres-under-tour.ts";
import { removeEverything, runTour } from "./tour/tour.ts";

const here = new URL(".", import.meta.url).pathname;
const manifests = new URL("../../operators/postgres/manifests/install.yaml", import.meta.url).pathname;

function underTour({ client, kubeconfig }: Stage, print = (_line: string): void => {}): PostgresUnderTour {
  return new PostgresUnderTour({ client, kubeconfig, name: "orders", namespace: "default", print });
}

/** One that is there stays as it is: people change it. */
async function install(stage: Stage): Promise<void> {
  const { client, print, isTour } = stage;
  const example = underTour(stage, (line) => print(`  ${line}`));
  print("Installing the PostgreSQL operator and examples/postgres/cluster.yaml …");
  await applyFile(client, manifests);
  const known = (await client.discover()).ofKind(PostgresCluster);
  const found = known === undefined ? undefined : await example.get().catch(() => undefined);
  if (found !== undefined && isTour) {
    print(`  removing the PostgresCluster "${example.name}" of an earlier start: the tour begins with a new one`);
    await removeEverything(example);
  }
  if (found === undefined || isTour) await applyFile(client, join(here, "cluster.yaml"));
  await example.settled();
}

async function show(stage: Stage): Promise<void> {
  const { status } = await underTour(stage).get();
  console.table((status?.members ?? []).map(({ name, role, ready, timeline }) => ({ name, role, ready, timeline })));
}

export const postgresExample: Example = {
  install,
  show,
  commands: [
    "kubectl get pg orders -o wide",
    "kubectl exec -it $(kubectl get pg orders -o jsonpath='{.status.primary}') -- psql -h /run/setpoint/socket -U postgres app",
    "kubectl annotate pg orders postgres.setpoint.dev/switchover-to=orders-2",
    `kubectl patch pg orders --type=merge -p '{"spec":{"parameters":{"work_mem":"8MB"}}}'`,
    "kubectl get secret orders-app -o jsonpath='{.data.uri}' | base64 -d",
  ],
  tour: (stage) => runTour(underTour(stage), stage.print),
};
