/** What etcd brings to its acceptance tests. */
import type { EngineAcceptance, EngineControl } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { newVersionRefusal } from "../kind/etcd-version.ts";

/** Both are listed images, so that a registry without internet has them. */
const firstVersion = "3.4.23";
const nextVersion = "3.5.16";
const size = 3;
const storage = "256Mi";

/** With TLS and logins, as a cluster in use has them. */
export function etcdAcceptance(engine: EngineControl<EtcdCluster>): EngineAcceptance<EtcdCluster> {
  return {
    engine,
    instance: (name, namespace, version = firstVersion) =>
      EtcdCluster({
        name,
        namespace,
        spec: {
          ...{ size, version, auth: { enabled: true } },
          volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
        },
      }),
    changes: (version) => [
      { title: "shrink to 1 member", spec: { size: 1 } },
      { title: `grow to ${size} members`, spec: { size } },
      ...(version === undefined ? [{ title: `upgrade to ${nextVersion}`, spec: { version: nextVersion } }] : []),
    ],
    versionRefusal: newVersionRefusal,
    unsettled,
    victim: ({ status }) => status?.leader,
    // Secrets are left out: to list them, the operator would have to read all of the namespace.
    creates: [Pod, PersistentVolumeClaim, Service, PodDisruptionBudget],
    bindingRights: { "setpoint-acceptance/": "readwrite" },
  };
}

function unsettled({ metadata, spec, status }: Stored<EtcdCluster>): string | undefined {
  if (status === undefined || status.observedGeneration !== metadata.generation)
    return "the operator has not seen the newest spec";
  const { phase, readyMembers, currentVersion, auth, waitingFor } = status;
  if (phase !== "Running") return `it is ${phase}: ${waitingFor?.what ?? "no reason in its status"}`;
  if (status.size !== spec.size || readyMembers !== spec.size)
    return `${readyMembers} of ${status.size} members answer, expected ${spec.size}`;
  if (currentVersion !== spec.version) return `members run ${currentVersion}, expected ${spec.version}`;
  return auth === undefined && spec.auth?.enabled === true ? "authentication is not on yet" : undefined;
}
