/** What is explored of backups and restores of etcd. Only tests import this. */
import { Backup, Restore, simulatedIssuer } from "@setpoint/data-service";
import {
  allOracles,
  excuseFaults,
  EtcdModel,
  type FaultKind,
  type LawOptions,
  type Setting,
  simulatedOperatorImage,
  type StoryInit,
  story,
  TransferModel,
} from "setpoint/testing";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { etcdOperator } from "../etcd-operator.ts";
import { vault } from "./store-vault.ts";
import { simulatedGateway } from "./simulated-gateway.ts";

/**
 * The operator with models of etcd and of transfer pods, all new. A restore in place stops all members on
 * purpose.
 */
export function subject(): Setting {
  const etcd = new EtcdModel();
  etcd.mayStopAll = true;
  const transfers = new TransferModel({
    etcd: (from) => etcd.snapshot((from as { readonly endpoints: readonly string[] }).endpoints),
  });
  return {
    models: [etcd, transfers],
    operators: [
      (process) => etcdOperator(simulatedGateway(etcd, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
  };
}

const resources = { requests: { storage: "1Gi" } };
const claim = { accessModes: ["ReadWriteOnce" as const], resources };
const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };
const source = { instance, source: { backup: "first" } };

const begin = [
  ...vault,
  EtcdCluster({
    name: "orders",
    spec: { size: 1, version: "3.4.23", tls: { mode: "Disabled" }, volumeClaimTemplate: claim },
  }),
  Backup({ name: "first", spec: { instance, store: "vault" } }),
];

export const worlds: readonly StoryInit[] = [
  story(
    "a cluster is restored in place",
    ...begin,
    // Longer than the time of rest: when it is over, the volumes from before are deleted.
    // When a user deletes the restored volume, the previous data come back after the deadline.
    Restore({ name: "back", spec: { ...source, inPlace: {}, keepPreviousFor: "240h", deadlineSeconds: 200 } }),
  ),
  story(
    "a cluster is restored into a new one",
    ...begin,
    Restore({ name: "back", spec: { ...source, newInstance: { name: "copy" } } }),
  ),
];

/**
 * Faults that destroy or change a pod or a volume. An attempt that they end leaves its pod, and members are
 * replaced.
 */
const costsMore: ReadonlySet<FaultKind> = new Set(["E1", "E2", "E8", "E9"]);

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(allOracles, { "same end as without faults": ({ kind }) => costsMore.has(kind) }),
  mayDiffer: [
    ...["Pod.spec.containers.*.args", "EtcdCluster.status.initialMembers", "EtcdCluster.status.latestRevision"],
    ...["Backup.status.attempt", "Restore.status.attempt", "Restore.status.recoverySeconds"],
    // The result of a transfer says when the backup was taken.
    ...["initContainerStatuses", "containerStatuses"].map((name) => `Pod.status.${name}.*.state.terminated.message`),
  ],
};
