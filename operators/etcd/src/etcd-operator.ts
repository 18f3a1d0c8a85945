import { type CertificateIssuer, CertificateKeeper, defineDataService, x509Issuer } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "setpoint/kinds";
import { PodFailures } from "setpoint/pods";
import { controller, type KindRef, type Operator, watching } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { type AcceptanceOptions, acceptanceDefaults } from "./accepted-spec.ts";
import { etcdEngine } from "./backup/etcd-engine.ts";
import { etcdActions } from "./controller/actions.ts";
import { EtcdConnections } from "./controller/connections.ts";
import { MemberReach } from "./controller/member-reach.ts";
import { observe } from "./controller/observe.ts";
import { DiskWatch } from "./controller/disk-watch.ts";
import { plan } from "./controller/plan.ts";
import { RoundTripWatch } from "./controller/round-trip-watch.ts";
import { SilenceWatch } from "./controller/silence-watch.ts";
import { etcdConditions, etcdStatus } from "./controller/status.ts";
import { etcdAcceptance } from "./etcd-acceptance.ts";
import { EtcdCluster } from "./etcd-cluster.ts";
import { etcdMetrics } from "./etcd-metrics.ts";
import { etcdOperations } from "./etcd-operations.ts";
import { etcdMirrors, mirrorWrites } from "./mirror/mirror-controller.ts";
import { relatedImages } from "./related-images.ts";
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
  const senses = {
    connections,
    reach: new MemberReach(),
    failures: new PodFailures(),
    silence: new SilenceWatch(),
    disks: new DiskWatch(),
    roundTrips: new RoundTripWatch(),
    revisions: new Map<string, number>(),
    accepts: accepted,
    image,
  };
  const etcdClusters = controller(EtcdCluster, {
    owns: [Pod, Service, PersistentVolumeClaim, PodDisruptionBudget],
    // Not owned: the operator reads no other Secrets of the cluster but by their names.
    watches: [watching(Secret, clusterOfRootSecret, rootSecrets)],
    releaseData: releaseVolumes,
    observe: (cluster, context) => observe(cluster, context, senses),
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
