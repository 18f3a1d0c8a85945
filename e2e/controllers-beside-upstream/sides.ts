/** Two servers, each with the controllers of the other side; no scheduler, and no watch over nodes. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import {
  cronJobs,
  daemonSets,
  deployments,
  endpointMirroring,
  endpoints,
  GarbageCollector,
  jobOrphans,
  jobs,
  leftoverEndpoints,
  namespaces,
  podDisruptionBudgets,
  replicaSets,
  replicationControllers,
  resourceQuotas,
  serviceAccounts,
  statefulSets,
} from "@setpoint/controllers";
import { startControlPlane } from "@setpoint/controlplane";
import { type Host, silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { startManager } from "@setpoint/runtime";
import type { KubeApiServer } from "../everywhere/kube-apiserver.ts";

const host: Host = { ...systemHost(), log: silentLogger };

export interface Side extends AsyncDisposable {
  readonly client: Client;
  readonly host: Host;
}

function reach(kubeconfig: string): ReturnType<typeof connect> {
  return connect({ clock: host.clock, kubeconfig, userAgent: "setpoint-e2e" });
}

/** Our controllers, on the genuine server. */
export async function ours(server: KubeApiServer): Promise<Side> {
  const transport = reach(server.kubeconfig);
  const controllers = [
    deployments,
    replicaSets,
    replicationControllers,
    statefulSets,
    daemonSets(),
    jobs,
    jobOrphans,
    cronJobs,
    podDisruptionBudgets,
    endpoints,
    leftoverEndpoints,
    endpointMirroring,
    namespaces,
    resourceQuotas,
    serviceAccounts({ caPem: "a test" }),
  ];
  const manager = startManager({ transport, host, controllers, name: "kube-controller-manager" });
  const client = createClient(transport, host);
  const collector = new GarbageCollector(client, host, { informers: manager.informers });
  await Promise.all([manager.ready, collector.start()]);
  const stop = async (): Promise<void> => {
    await Promise.all([manager.stop(), collector[Symbol.asyncDispose]()]);
    await transport[Symbol.asyncDispose]();
  };
  return { client, host, [Symbol.asyncDispose]: stop };
}

/** The genuine controllers, on our server. */
export async function upstream(bin: string): Promise<Side> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-controllers-"));
  const plane = await startControlPlane({ host, https: {}, controllers: false });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
  const off = ["node-lifecycle-controller", "taint-eviction-controller", "node-ipam-controller"];
  const flags = [
    `--controllers=*,${off.map((name) => `-${name}`).join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
  ];
  const manager = spawn(join(bin, "kube-controller-manager"), [`--kubeconfig=${kubeconfig}`, ...flags], {
    stdio: "ignore",
  });
  const transport = reach(kubeconfig);
  const stop = async (): Promise<void> => {
    manager.kill("SIGKILL");
    await transport[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  return { client: createClient(transport, host), host, [Symbol.asyncDispose]: stop };
}
