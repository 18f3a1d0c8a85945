/** Reads everything that the plan of a pooler needs; changes nothing. */
import { type BoundedMap, instanceAccess, isBudgetAsWanted, judgeServices } from "@setpoint/data-service";
import type { ReconcileContext, Stored } from "setpoint";
import { Deployment, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { servedCluster } from "../inner/served-cluster.ts";
import type { ManagerCertificates } from "../instance/instance-gateway.ts";
import type { PoolerGateway } from "../instance/pooler-gateway.ts";
import { certificateSecret, poolerCertificateSecret } from "../kind/certificates.ts";
import { managerAddress } from "../kind/instance-pod.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import {
  objectsAnnotation,
  objectsText,
  poolerLabel,
  poolerService,
  poolerSet,
  poolersLeft,
} from "./pooler-objects.ts";
import { parameterRefusals } from "./pooler-parameters.ts";
import type { SeenPooler, SeenPoolerPod } from "./pooler-seen.ts";
import type { PostgresPooler } from "./postgres-pooler.ts";
import { pauseOf, wantedPooler } from "./wanted-pooler.ts";

export interface PoolerPorts {
  readonly gateway: PoolerGateway;
  /** The operator's own image, which has the manager. */
  readonly image: string;
  /** Pooler → the data and the term whose primary has the role of poolers. */
  readonly prepared: BoundedMap<string, string>;
}

export async function observePooler(
  pooler: Stored<PostgresPooler>,
  context: ReconcileContext,
  ports: PoolerPorts,
): Promise<SeenPooler> {
  const { namespace, uid } = pooler.metadata;
  const cluster = servedCluster(pooler.spec.cluster, context, namespace);
  const seen = {
    pooler,
    refusals: parameterRefusals(pooler.spec.parameters),
    cluster,
    ...observeObjects(pooler, context, ports),
  };
  if (cluster.kind === "missing") return { ...seen, hasCertificate: false, hasLogin: false, pods: [] };
  const certificate = await instanceAccess(context, namespace).secret(
    poolerCertificateSecret(pooler.spec.cluster, pooler.metadata.name),
  );
  return {
    ...seen,
    hasCertificate: certificate?.["tls.crt"] !== undefined,
    hasLogin: ports.prepared.get(uid) === preparedFor(cluster.cluster),
    pods: await observePods(pooler, context, ports),
    wanted: wantedPooler(pooler, cluster.cluster),
    pauseFor: pauseOf(pooler, cluster.cluster),
  };
}

/** A restore brings data from before the role. */
export function preparedFor({ metadata: { uid }, status }: Stored<PostgresCluster>): string {
  return JSON.stringify([uid, status?.systemID, status?.restored, status?.term]);
}

function observeObjects(
  pooler: Stored<PostgresPooler>,
  { get }: ReconcileContext,
  { image }: PoolerPorts,
): Pick<SeenPooler, "objects" | "taken"> {
  const { name, namespace, uid } = pooler.metadata;
  const set = poolerSet(pooler);
  const deployment = get(Deployment, name, namespace);
  const service = get(Service, name, namespace);
  const budget = get(PodDisruptionBudget, name, namespace);
  const services = new Map(service === undefined ? [] : [[name, service] as const]);
  const isWhole =
    judgeServices(set, [poolerService], services).servicesToApply.length === 0 &&
    budget !== undefined &&
    isBudgetAsWanted(budget, set, poolersLeft(pooler));
  const foreign = [deployment, service, budget].find(
    (each) => each !== undefined && each.metadata.ownerReferences?.some((owner) => owner.uid === uid) !== true,
  );
  return {
    objects: {
      wanted: objectsText(pooler, image),
      present: isWhole ? deployment?.metadata.annotations?.[objectsAnnotation] : undefined,
    },
    taken: foreign === undefined ? undefined : `${foreign.kind} "${name}"`,
  };
}

async function observePods(
  pooler: Stored<PostgresPooler>,
  context: ReconcileContext,
  { gateway }: PoolerPorts,
): Promise<readonly SeenPoolerPod[]> {
  const { name } = pooler.metadata;
  const pods = context
    .list(Pod)
    .filter(
      ({ metadata: { labels, deletionTimestamp } }) =>
        labels?.[poolerLabel] === name && deletionTimestamp === undefined,
    );
  const certificates = await poolerCertificates(pooler, context);
  const asked = pods.map(async (pod) => {
    const address = managerAddress(pod);
    // One that does not answer is a fact too: it has no report.
    const report =
      address === undefined
        ? undefined
        : await gateway.report({ url: address, certificates }, context.signal).catch(() => undefined);
    const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
    return { name: pod.metadata.name, address, isReady, report };
  });
  const seen = await Promise.all(asked);
  context.signal.throwIfAborted();
  return seen;
}

/** The certificate with which the operator asks the pods. */
export async function poolerCertificates(
  { metadata: { name, namespace }, spec }: Stored<PostgresPooler>,
  context: ReconcileContext,
): Promise<ManagerCertificates> {
  const files = await instanceAccess(context, namespace).secret(certificateSecret(spec.cluster, "operator"));
  const text = (file: string): string => Buffer.from(files?.[file] ?? []).toString("utf8");
  return {
    ca: text("ca.crt"),
    certificate: text("tls.crt"),
    key: text("tls.key"),
    serverName: `${name}.${namespace ?? ""}.svc`,
  };
}
