/** A Prometheus that scrapes an application, and a pair of Alertmanagers, under the Prometheus operator. */
import { join } from "node:path";
import { Prometheus } from "@setpoint/prometheus-operator";
import { applyFile } from "../etcd/install.ts";
import type { Example, Stage } from "../tours/example.ts";
import { MonitoringUnderTour } from "./tour/monitoring-under-tour.ts";
import { removeEverything, runTour } from "./tour/tour.ts";

const here = new URL(".", import.meta.url).pathname;
const manifests = new URL("../../operators/prometheus/manifests/install.yaml", import.meta.url).pathname;

function underTour({ client, kubeconfig }: Stage, print = (_line: string): void => {}): MonitoringUnderTour {
  return new MonitoringUnderTour({ client, kubeconfig, print });
}

/** What is there stays as it is: people change it. */
async function install(stage: Stage): Promise<void> {
  const { client, print, isTour } = stage;
  const example = underTour(stage, (line) => print(`  ${line}`));
  print("Installing the Prometheus operator and examples/prometheus/monitoring.yaml …");
  await applyFile(client, manifests);
  const known = (await client.discover()).ofKind(Prometheus);
  const found = known === undefined ? undefined : await client.get(Prometheus, example).catch(() => undefined);
  if (found !== undefined && isTour) {
    print("  removing what an earlier start has made: the tour begins with new objects");
    await removeEverything(example);
  }
  if (found === undefined || isTour) await applyFile(client, join(here, "monitoring.yaml"));
  await example.settled();
  await example.answers();
}

async function show(stage: Stage): Promise<void> {
  console.table(await underTour(stage).targets());
}

export const prometheusExample: Example = {
  install,
  show,
  commands: [
    "kubectl get prometheus,alertmanager",
    "kubectl get servicemonitor,prometheusrule",
    "kubectl scale deployment shop --replicas=2",
    "kubectl exec receiver -- cat /www/kept/alerts",
    "kubectl port-forward service/prometheus-operated 9090",
  ],
  tour: (stage) => runTour(underTour(stage), stage.print),
};
