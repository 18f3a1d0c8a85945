/** The operator for PostgresCluster, assembled of its parts. */
import {
  BoundedMap,
  type CertificateIssuer,
  CertificateKeeper,
  defineDataService,
  watchStores,
  x509Issuer,
} from "@setpoint/data-service";
import { controller, type KindRef, type Operator, watching } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "setpoint/kinds";
import { PodFailures } from "setpoint/pods";
import { ownedKinds, postgresActions } from "./act/actions.ts";
import { postgresConditions } from "./act/conditions.ts";
import { postgresMetrics } from "./act/postgres-metrics.ts";
import { postgresStatus } from "./act/status.ts";
import { databases } from "./databases/databases.ts";
import { postgresAcceptance } from "./engine/postgres-acceptance.ts";
import { postgresEngine } from "./engine/postgres-engine.ts";
import { postgresOperations } from "./engine/postgres-operations.ts";
import { httpsInnerGateway, type InnerGateway } from "./instance/inner-gateway.ts";
import type { InstanceGateway } from "./instance/instance-gateway.ts";
import { httpsPoolerGateway, type PoolerGateway } from "./instance/pooler-gateway.ts";
import { clusterOfLogin, loginSecrets } from "./kind/login-secret.ts";
import { PostgresCluster } from "./kind/postgres-cluster.ts";
import { relatedImages } from "./kind/related-images.ts";
import { observe } from "./observe/observe.ts";
import { plan } from "./plan/plan.ts";
import { clusterOfPooler, poolers, poolerWrites } from "./poolers/poolers.ts";
import { PostgresPooler } from "./poolers/postgres-pooler.ts";
import { roleRules, roles } from "./roles/roles.ts";
import type { Memory } from "./seen/memory.ts";

/** Enough for all clusters of an operator; what is forgotten is observed again. */
const memoriesMax = 1_000;

/** What the actions do; what else is left is removed by the garbage collector. */
const writes = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "patch", "delete"]],
  [Service, ["create", "patch"]],
  [PodDisruptionBudget, ["create", "patch"]],
  [PersistentVolumeClaim, ["create", "patch", "delete"]],
]);

/**
 * `gateway`, `inner` and `pooling` talk to managers; `image` is the operator's own, which has the instance
 * manager.
 */
export function postgresOperator(
  gateway: InstanceGateway,
  image: string,
  issuer: CertificateIssuer = x509Issuer,
  inner: InnerGateway = httpsInnerGateway,
  pooling: PoolerGateway = httpsPoolerGateway,
): Operator {
  const keeper = new CertificateKeeper(issuer);
  const senses = {
    gateway,
    keeper,
    failures: new PodFailures(),
    memories: new BoundedMap<string, Memory>(memoriesMax),
  };
  const clusters = controller(PostgresCluster, {
    owns: [...ownedKinds],
    watches: [
      watching(Secret, clusterOfLogin, loginSecrets),
      watching(PostgresPooler, clusterOfPooler),
      watchStores(PostgresCluster, ({ spec }) => spec.archive?.store),
    ],
    observe: (cluster, context) => observe(cluster, context, senses),
    plan,
    // Its questions are the lease of the primary: they must not become fewer because nothing changes.
    limits: { idleRunsPerMinute: Number.POSITIVE_INFINITY },
    actions: postgresActions({ gateway, keeper, image }),
    status: postgresStatus,
    conditions: postgresConditions,
    objectMetrics: postgresMetrics,
  });
  return defineDataService({
    acceptance: postgresAcceptance(postgresEngine(gateway)),
    operations: postgresOperations,
    image,
    controllers: [clusters, roles(inner), databases(inner), poolers(pooling, image)],
    writes: new Map([...writes, ...poolerWrites]),
    relatedImages,
    permissions: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "patch"] }, ...roleRules],
  });
}
