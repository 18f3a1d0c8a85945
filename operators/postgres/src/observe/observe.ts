/** Reads everything that the plan needs into one snapshot; changes nothing but the process's own memory. */
import {
  BoundedMap,
  type CertificateKeeper,
  closedWindow,
  isBudgetAsWanted,
  judgeServices,
  observeArchive,
  restoreMarkOf,
} from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "setpoint/kinds";
import type { PodFailures } from "setpoint/pods";
import { isNotFound, type ReconcileContext, type Stored } from "setpoint";
import type { InstanceGateway } from "../instance/instance-gateway.ts";
import type { InstanceReport } from "../instance/instance-protocol.ts";
import { certificatesOf } from "../kind/certificates.ts";
import { onDataVersion } from "../kind/data-version.ts";
import { managerAddress } from "../kind/instance-pod.ts";
import { labels } from "../kind/labels.ts";
import { appSecretName, numberOf, serverName, wantedInstances } from "../kind/names.ts";
import { parameterRefusals } from "../kind/parameters.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { observeOtherServerSecrets } from "./other-server-secrets.ts";
import { memberSet, minAvailable, serviceRoles } from "../kind/services.ts";
import { PostgresPooler } from "../poolers/postgres-pooler.ts";
import { specInForce } from "../kind/spec-in-force.ts";
import { isSafetyCopyOver } from "../seen/upgrade.ts";
import { mattersOf } from "../seen/matters.ts";
import { type Memory, noMemory, remember } from "../seen/memory.ts";
import { acceptsWrites, podState, type Seen, type SeenInstance } from "../seen/seen.ts";

/** What an observation uses beyond the API server. */
export interface ObservationPorts {
  readonly gateway: InstanceGateway;
  readonly keeper: CertificateKeeper;
  readonly failures: PodFailures;
  /** By the UID of the cluster. */
  readonly memories: BoundedMap<string, Memory>;
}

export async function observe(
  stored: Stored<PostgresCluster>,
  context: ReconcileContext,
  senses: ObservationPorts,
): Promise<Seen> {
  const cluster = { ...stored, spec: onDataVersion(specInForce(stored), stored) };
  const { uid } = cluster.metadata;
  const poolers = observePoolers(cluster, context);
  const subject = certificatesOf(
    cluster,
    poolers.map((pooler) => pooler.name),
  );
  const { report: certificates, own } = await senses.keeper.observe(subject, "operator", context);
  const pods = new Map(context.children.list(Pod).map((pod) => [pod.metadata.name, pod] as const));
  const { claims, otherClaims } = observeClaims(cluster, context);
  const failures = await senses.failures.observe(cluster, [...pods.values()], context);
  const gateway =
    own === undefined
      ? undefined
      : senses.gateway.withCertificates({
          ca: own.bundle,
          certificate: own.pair.certificate,
          key: own.pair.key,
          serverName: serverName(cluster),
        });
  const reports = gateway === undefined ? new Map() : await askAll(cluster, pods, gateway, context.signal);
  const names = new Set([...wantedInstances(cluster), ...pods.keys(), ...claims.keys()]);
  const instances = [...names]
    .toSorted((a, b) => numberOf(a) - numberOf(b))
    .map((each) => ({
      name: each,
      pod: pods.get(each),
      claim: claims.get(each),
      report: reports.get(each),
      failure: failures.get(each)?.message,
    }));
  const nowMs = context.host.clock.monotonic();
  const before = senses.memories.get(uid) ?? noMemory;
  const memory = remember(before, {
    matters: mattersOf(cluster, instances, before),
    ...lastOfPrimary(cluster, instances),
    nowMs,
  });
  senses.memories.set(uid, memory);
  return {
    cluster,
    asked: stored.spec,
    isOutOfReach: isOutOfReach(stored, pods, reports, context),
    refusals: [
      ...parameterRefusals(stored.spec.parameters ?? {}),
      ...(await observeOtherServerSecrets(cluster, context)),
    ],
    certificates,
    instances,
    ...observeObjects(cluster, context),
    ...(await observeArchive(cluster, cluster.spec.archive?.store, context)),
    isSafetyCopyOver: isSafetyCopyOver(stored, context.host.clock.now()),
    closed: closedWindow(cluster.spec.maintenanceWindows, context.host.clock.now()),
    restore: restoreMarkOf(cluster),
    poolers,
    otherClaims,
    ...(await observeLogin(cluster, context)),
    memory,
    monotonicMs: nowMs,
  };
}

/** The cache has only Secrets with our label. One that lost it later serves as before. */
async function observeLogin(
  { metadata, status }: Stored<PostgresCluster>,
  { client, get, signal }: ReconcileContext,
): Promise<Pick<Seen, "hasLogin" | "loginTaken">> {
  const { namespace = "" } = metadata;
  const name = appSecretName(metadata.name);
  if (get(Secret, name, namespace) !== undefined) return { hasLogin: true };
  const found = await client.get(Secret, { name, namespace }, { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  if (found === undefined) return { hasLogin: false };
  const isOwn = status?.term !== undefined || found.metadata.labels?.[labels.login] === "true";
  return isOwn ? { hasLogin: true } : { hasLogin: false, loginTaken: name };
}

function observePoolers({ metadata: { name } }: PostgresCluster, { list }: ReconcileContext): Seen["poolers"] {
  return list(PostgresPooler)
    .filter(({ spec, metadata }) => spec.cluster === name && metadata.deletionTimestamp === undefined)
    .map((pooler) => ({
      name: pooler.metadata.name,
      holdsWriters: pooler.spec.target === "primary" && (pooler.status?.readyInstances ?? 0) > 0,
      pausedFor: pooler.status?.pausedFor,
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Asked only when no instance answers; true in a plan on a user's machine. */
function isOutOfReach(
  { spec }: PostgresCluster,
  pods: ReadonlyMap<string, Pod>,
  reports: ReadonlyMap<string, InstanceReport>,
  { controller }: ReconcileContext,
): boolean {
  const isSomeoneRunning = [...pods.values()].some((pod) => podState(pod) === "running");
  if (reports.size > 0 || !isSomeoneRunning) return false;
  const instead = spec.dryRun ? "the instances and the primary in its status" : undefined;
  return controller.cannotReach("the pods of its instances", instead);
}

/** By what was written at their creation: any client may edit labels. */
function observeClaims(
  { metadata: { uid }, status }: PostgresCluster,
  context: ReconcileContext,
): { readonly claims: ReadonlyMap<string, PersistentVolumeClaim>; readonly otherClaims: PersistentVolumeClaim[] } {
  const all = context
    .list(PersistentVolumeClaim)
    .filter(({ metadata }) => metadata.annotations?.[labels.clusterUid] === uid);
  const isCurrent = ({ metadata }: PersistentVolumeClaim): boolean =>
    metadata.annotations?.[labels.restore] === status?.restored;
  const current = all.filter(isCurrent);
  return {
    claims: new Map(current.map((claim) => [claim.metadata.annotations?.[labels.instance] ?? "", claim])),
    otherClaims: all.filter((claim) => !isCurrent(claim)),
  };
}

/** To the primary, a question is proof that the operator reaches it. */
async function askAll(
  { status }: PostgresCluster,
  pods: ReadonlyMap<string, Pod>,
  gateway: InstanceGateway,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, InstanceReport>> {
  const { primary, term } = status ?? {};
  const lease = primary === undefined || term === undefined ? undefined : { holder: primary, term };
  const asked = [...pods].map(async ([name, pod]): Promise<readonly [string, InstanceReport] | undefined> => {
    const address = managerAddress(pod);
    if (address === undefined) return undefined;
    // One that does not answer is a fact too: it has no report.
    const report = await gateway.report(address, lease, signal).catch(() => undefined);
    return report === undefined ? undefined : [name, report];
  });
  const answers = await Promise.all(asked);
  signal.throwIfAborted();
  return new Map(answers.filter((each) => each !== undefined));
}

function lastOfPrimary(
  { status }: PostgresCluster,
  instances: readonly SeenInstance[],
): { readonly lastPosition: string | undefined; readonly lastTimeline: number | undefined } {
  const primary = instances.find(({ name }) => name === status?.primary);
  const report = primary !== undefined && acceptsWrites(primary) ? primary.report : undefined;
  return { lastPosition: report?.position, lastTimeline: report?.timeline };
}

function observeObjects(
  cluster: PostgresCluster,
  context: ReconcileContext,
): Pick<Seen, "servicesToApply" | "needsBudget" | "serviceTaken"> {
  const { name = "", namespace } = cluster.metadata;
  const set = memberSet(cluster);
  const services = new Map(
    serviceRoles.flatMap(({ nameOf }) => {
      const service = context.get(Service, nameOf(name), namespace);
      return service === undefined ? [] : [[nameOf(name), service] as const];
    }),
  );
  const budget = context.get(PodDisruptionBudget, name, namespace);
  const { servicesToApply, serviceTaken } = judgeServices(set, serviceRoles, services);
  return {
    servicesToApply,
    serviceTaken,
    needsBudget: budget === undefined || !isBudgetAsWanted(budget, set, minAvailable(cluster)),
  };
}
