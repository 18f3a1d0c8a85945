/**
 * Inside the cluster's network namespace: installs the operator and the example of Prometheus and runs its
 * tour. `prometheus-tour.ts DIR`
 */
import { join } from "node:path";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { prometheusExample } from "../../examples/prometheus/example.ts";

const print = (line: string): void => console.log(line);

async function tour(directory: string): Promise<boolean> {
  const host = systemHost({ write: (line) => void process.stderr.write(line) });
  const kubeconfig = join(directory, "kubeconfig");
  await using transport = connect({ clock: host.clock, kubeconfig, userAgent: "setpoint-e2e" });
  const stage = { client: createClient(transport, host), kubeconfig, print, isTour: true };
  await prometheusExample.install(stage);
  await prometheusExample.show(stage);
  return await prometheusExample.tour(stage);
}

const [directory = ""] = process.argv.slice(2);
process.exitCode = (await tour(directory)) ? 0 : 1;
