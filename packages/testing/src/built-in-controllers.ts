/** The controllers of a world, as those of kube-controller-manager and kube-scheduler, in one process. */
import type { Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import {
  claimProtection,
  deployments,
  endpoints,
  GarbageCollector,
  namespaces,
  replicaSets,
  scheduler,
  serviceAccounts,
} from "@setpoint/controllers";
import type { Host } from "@setpoint/host";
import { startManager } from "@setpoint/runtime";

/** Resolves when all of them are in sync. They run until the world is forgotten. */
export async function startBuiltInControllers(transport: Transport, host: Host): Promise<void> {
  const controllers = [
    deployments,
    replicaSets,
    scheduler,
    endpoints,
    namespaces,
    claimProtection,
    serviceAccounts({ caPem: "simulated" }),
  ];
  const manager = startManager({ transport, host, controllers, name: "kube-controller-manager" });
  const collector = new GarbageCollector(createClient(transport, host), host);
  await Promise.all([manager.ready, collector.start()]);
}
