/** Runs Kubernetes' own controllers as one manager, on an ordinary transport. */
import type { Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import {
  certificateSigner,
  claimBinder,
  claimProtection,
  daemonSets,
  cronJobs,
  deployments,
  endpointMirroring,
  endpoints,
  GarbageCollector,
  horizontalPodAutoscalers,
  jobOrphans,
  jobs,
  leftoverEndpoints,
  namespaces,
  nodeLifecycle,
  podDisruptionBudgets,
  replicaSets,
  replicationControllers,
  resourceQuotas,
  scheduler,
  serviceAccounts,
  statefulSets,
  taintEvictions,
  volumePhases,
} from "@setpoint/controllers";
import type { Host } from "@setpoint/host";
import type { CertificateAuthority } from "@setpoint/host/certificates";
import { type ControllerDefinition, startManager } from "@setpoint/runtime";

export interface BuiltInControllersOptions {
  readonly transport: Transport;
  readonly host: Host;
  /** The cluster's: its certificate is published in every namespace, and it issues what was approved. */
  readonly authority: CertificateAuthority;
}

/** Those that run for a kind; the garbage collector runs for all. */
export function builtInControllers(authority: CertificateAuthority): readonly ControllerDefinition[] {
  return [
    deployments,
    replicaSets,
    replicationControllers,
    statefulSets,
    jobs,
    jobOrphans,
    cronJobs,
    podDisruptionBudgets,
    daemonSets(),
    horizontalPodAutoscalers(),
    scheduler(),
    endpoints,
    leftoverEndpoints,
    endpointMirroring,
    namespaces,
    serviceAccounts({ caPem: authority.certificate }),
    claimProtection,
    claimBinder,
    volumePhases,
    nodeLifecycle(),
    taintEvictions(),
    resourceQuotas,
    certificateSigner({ authority }),
  ];
}

/** Resolves when their caches are complete. */
export async function startBuiltInControllers({
  transport,
  host,
  authority,
}: BuiltInControllersOptions): Promise<AsyncDisposable> {
  const controllers = builtInControllers(authority);
  const manager = startManager({ transport, host, controllers, name: "kube-controller-manager" });
  const collector = new GarbageCollector(createClient(transport, host), host, { informers: manager.informers });
  await Promise.all([manager.ready, collector.start()]);
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([manager.stop(), collector[Symbol.asyncDispose]()]);
    },
  };
}
