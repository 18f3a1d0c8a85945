import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { controller, defineOperator, type KindRef, type Operator } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { type AcceptanceOptions, acceptanceDefaults } from "./accepted-spec.ts";
import { operationRules, operations } from "@setpoint/data-service";
import { etcdActions } from "./controller/actions.ts";
import { observe } from "./controller/observe.ts";
import { plan } from "./controller/plan.ts";
import { SilenceWatch } from "./controller/silence-watch.ts";
import { etcdConditions, etcdStatus } from "./controller/status.ts";
import { EtcdCluster } from "./etcd-cluster.ts";
import { etcdMetrics } from "./etcd-metrics.ts";
import { etcdOperations } from "./etcd-operations.ts";
import { releaseVolumes, retainedVolumes } from "./resources/retained-volumes.ts";
import type { EtcdGateway } from "./gateway/etcd-gateway.ts";

/** What the actions do; Services and what else is left are removed by the garbage collector. */
const writes = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "patch", "delete"]],
  [Service, ["create", "patch"]],
  [PodDisruptionBudget, ["create", "patch"]],
  [PersistentVolumeClaim, ["create", "patch", "delete"]],
]);

/** The operator for EtcdCluster. `gateway` talks to etcd; `accepts` decides what it accepts from specs. */
export function etcdOperator(gateway: EtcdGateway, accepts: Partial<AcceptanceOptions> = {}): Operator {
  const senses = {
    gateway,
    silence: new SilenceWatch(),
    revisions: new Map<string, number>(),
    accepts: { ...acceptanceDefaults, ...accepts },
  };
  const etcdClusters = controller(EtcdCluster, {
    owns: [Pod, Service, PersistentVolumeClaim, PodDisruptionBudget],
    releaseData: releaseVolumes,
    observe: (cluster, context) => observe(cluster, context, senses),
    plan,
    actions: etcdActions(gateway),
    status: etcdStatus,
    conditions: etcdConditions,
    objectMetrics: etcdMetrics,
  });
  const controllers = [etcdClusters, operations(etcdOperations(gateway))];
  return defineOperator({
    name: "etcd",
    controllers,
    writes,
    policies: [retainedVolumes],
    permissions: operationRules,
  });
}
