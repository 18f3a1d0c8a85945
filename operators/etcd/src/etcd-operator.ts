import { type CertificateIssuer, CertificateKeeper, defineDataService, x509Issuer } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "setpoint/kinds";
import { PodFailures } from "setpoint/pods";
import { controller, type KindRef, type Operator, type ReconcileContext, type Stored, watching } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { type AcceptanceOptions, acceptanceDefaults } from "./kind/accepted-spec.ts";
import { etcdEngine } from "./engine/etcd-engine.ts";
import { etcdActions } from "./act/actions.ts";
import { EtcdConnections } from "./access/connections.ts";
import { type Memory, nothing } from "./observe/memory.ts";
import { observe } from "./observe/observe.ts";
import { plan } from "./plan/plan.ts";
import { judge, type Situation } from "./plan/situation.ts";
import { etcdConditions, etcdStatus } from "./status/status.ts";
import { etcdAcceptance } from "./engine/etcd-acceptance.ts";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdMetrics } from "./status/etcd-metrics.ts";
import { etcdOperations } from "./engine/etcd-operations.ts";
import { etcdMirrors, mirrorWrites } from "./mirror/mirror-controller.ts";
import { relatedImages } from "./kind/related-images.ts";
import { clusterOfRootSecret, rootSecrets } from "./resources/root-login.ts";
import { releaseVolumes, retainedVolumes } from "./resources/retained-volumes.ts";
import type { EtcdGateway } from "./gateway/etcd-gateway.ts";

/** What the actions do; Services and what else is left are removed by the garbage collector. */
const writes = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "patch", "delete"]],
  [Service, ["create", "patch"]],
  [PodDisruptionBudget, ["create", "patch"]],
  [PersistentVolumeClaim, ["create", "patch", "delete"]],
]);

/**
 * The operator for EtcdCluster. `gateway` talks to etcd; `accepts` decides what it accepts from specs;
 * `ownImage` is the operator's, which transfers of backups, copies of data and mirrors run; it is empty when
 * the installation does not name it, and without it there are no mirrors at all. `issuer` makes certificates.
 */
export function etcdOperator(
  gateway: EtcdGateway,
  accepts: Partial<AcceptanceOptions> = {},
  ownImage?: string,
  issuer: CertificateIssuer = x509Issuer,
): Operator {
  const image = ownImage === "" ? undefined : ownImage;
  const connections = new EtcdConnections(gateway, new CertificateKeeper(issuer));
  const accepted = { ...acceptanceDefaults, ...accepts };
  const ports = { connections, failures: new PodFailures(), accepts: accepted, image };
  /** By the UID of the cluster. */
  const memories = new Map<string, Memory>();
  const look = async (cluster: Stored<EtcdCluster>, context: ReconcileContext): Promise<Situation> => {
    const { uid } = cluster.metadata;
    const { seen, memory } = await observe(cluster, context, memories.get(uid) ?? nothing, ports);
    memories.set(uid, memory);
    if (memory.doubtsCredentials) connections.doubt(seen.cluster);
    return judge(seen);
  };
  const etcdClusters = controller(EtcdCluster, {
    owns: [Pod, Service, PersistentVolumeClaim, PodDisruptionBudget],
    // Not owned: the operator reads no other Secrets of the cluster but by their names.
    watches: [watching(Secret, clusterOfRootSecret, rootSecrets)],
    releaseData: releaseVolumes,
    observe: look,
    plan,
    actions: etcdActions(connections),
    status: etcdStatus,
    conditions: etcdConditions,
    objectMetrics: etcdMetrics,
  });
  return defineDataService({
    acceptance: etcdAcceptance(etcdEngine(accepted, gateway)),
    operations: etcdOperations(connections),
    image,
    controllers: [etcdClusters, ...(ownImage === undefined ? [] : [etcdMirrors(gateway, ownImage)])],
    writes: ownImage === undefined ? writes : new Map([...writes, ...mirrorWrites]),
    relatedImages,
    policies: [retainedVolumes],
  });
}
