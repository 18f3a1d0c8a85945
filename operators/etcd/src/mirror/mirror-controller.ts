/** Reconciles EtcdMirrors: one pod each, which copies by itself, and a status from what it has recorded. */
import { externalSecretProblem, instanceAccess } from "@setpoint/data-service";
import type { WriteVerb } from "setpoint/install";
import { type PodFailure, PodFailures } from "setpoint/pods";
import {
  controller,
  keyOf,
  type KindRef,
  type ReconcileContext,
  type Result,
  seconds,
  type Stored,
  watching,
} from "setpoint";
import { Deployment, Pod } from "setpoint/kinds";
import { ClusterAccess } from "../access/cluster-access.ts";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { EtcdGateway } from "../gateway/etcd-gateway.ts";
import { EtcdMirror } from "./etcd-mirror.ts";
import { mirrorConnection, type Missing, type NamedClusters } from "./mirror-connection.ts";
import { type MirrorConnection, mirrorDeployment, mirrorLabel } from "./mirror-deployment.ts";
import { parseRecord, recordKeyOf } from "./mirror-record.ts";
import { RecordWatch } from "./record-watch.ts";
import { isAvailable, mirrorStatus, readyCondition, type SeenMirror } from "./mirror-status.ts";
import { type MirrorState, opposites } from "./opposite-mirrors.ts";

/** What the controller does to the kinds that it owns. */
export const mirrorWrites: ReadonlyMap<KindRef, readonly WriteVerb[]> = new Map<KindRef, readonly WriteVerb[]>([
  [Deployment, ["create", "patch", "delete"]],
]);

/** How often the record is read. The destination is asked, not the API server. */
const readMs = seconds(15);
/** The same while the mirror does not follow. */
const soonMs = seconds(5);
const stopMs = seconds(2);
/** So long a deletion waits for a destination that does not answer. */
const cleanUpMsMax = 60_000;

/** The controller of EtcdMirrors. `image` is the operator's own; empty: it does not know it. */
export function etcdMirrors(gateway: EtcdGateway, image: string): ReturnType<typeof controller> {
  const clusters = new ClusterAccess(gateway);
  const records = new RecordWatch();
  const failures = new PodFailures();
  return controller(EtcdMirror, {
    name: "etcd-mirror",
    owns: [Deployment],
    watches: [
      watching(
        EtcdCluster,
        (cluster, cache) =>
          cache
            .list(EtcdMirror, { namespace: cluster.metadata.namespace })
            .filter(({ spec }) => [spec.cluster, spec.source.cluster].includes(cluster.metadata.name))
            .map(keyOf),
        { predicate: (old, next) => factsOf(old) !== factsOf(next) },
      ),
    ],
    async reconcile(mirror, context) {
      const found = await reconcileMirror(mirror, context, clusters, image);
      const silentMs = records.unchangedMs(mirror.metadata.uid, found.record?.at, context);
      const seen = { ...found, silentMs, failure: await podFailure(mirror, found, context, failures) };
      const ready = readyCondition(seen);
      context.condition(ready);
      await context.status(mirrorStatus(mirror, seen));
      if (seen.missing !== undefined) return recheck(seen.missing, context);
      const delayMs = ready.status === "True" ? readMs : soonMs;
      return context.requeueAfter(delayMs, "the record of the mirror is read again");
    },
    cleanup: (mirror, context) => removeMirror(mirror, context, clusters),
  });
}

/** Why its pod does not run; asked for only while it is not available. */
async function podFailure(
  mirror: Stored<EtcdMirror>,
  { missing, deployment }: Pick<SeenMirror, "missing" | "deployment">,
  context: ReconcileContext,
  failures: PodFailures,
): Promise<PodFailure | undefined> {
  if (missing !== undefined || deployment === undefined || isAvailable(deployment)) return undefined;
  const found = await failures.observe(mirror, await podsOf(mirror, context), context);
  return [...found.values()][0];
}

async function podsOf({ metadata }: Stored<EtcdMirror>, { client, signal }: ReconcileContext): Promise<readonly Pod[]> {
  const options = { namespace: metadata.namespace ?? "", labelSelector: `${mirrorLabel}=${metadata.uid}`, signal };
  return (await client.listAll(Pod, options)).items;
}

/** No watch shows that a Secret has changed, or that another mirror has gone. */
function recheck({ reason }: Missing, context: ReconcileContext): Result | void {
  if (reason === "OppositeMirror") return context.requeueAfter(readMs, "the other mirrors are read again");
  if (reason === "SecretNotFound" || reason === "SecretNotLabelled")
    return context.requeueAfter(soonMs, "the Secrets of the source are read again");
}

/** What of a cluster a mirror depends on. */
function factsOf(cluster: EtcdCluster | undefined): string {
  const { status, spec } = cluster ?? {};
  return JSON.stringify([status?.currentVersion === undefined, status?.tls?.clientSecret, status?.auth, spec?.tls]);
}

async function reconcileMirror(
  mirror: Stored<EtcdMirror>,
  context: ReconcileContext,
  clusters: ClusterAccess,
  image: string,
): Promise<Omit<SeenMirror, "silentMs">> {
  const { name, namespace = "", uid } = mirror.metadata;
  const destination = context.get(EtcdCluster, mirror.spec.cluster, namespace);
  const connection = image === "" ? noImage : await allowedConnection(mirror, context);
  if ("reason" in connection) {
    if (connection.keepsPod !== true) await context.children.apply([]);
    return { missing: connection };
  }
  await context.children.apply([mirrorDeployment({ name, namespace, uid, image }, connection)]);
  const deployment = context.get(Deployment, `${name}-mirror`, namespace);
  // The connection needs it, so it is there.
  return destination === undefined
    ? { deployment }
    : { deployment, ...(await readRecord(mirror, destination, context, clusters)) };
}

/** The Secrets are read each time: a mirror whose Secret loses its label stops. */
async function allowedConnection(
  mirror: Stored<EtcdMirror>,
  context: ReconcileContext,
): Promise<MirrorConnection | Missing> {
  const way = opposites(mirror, context.list(EtcdMirror), (each) => stateOf(each, context));
  const connection = way === undefined ? mirrorConnection(mirror, namedClusters(mirror, context)) : opposed(way);
  if ("reason" in connection || mirror.spec.source.external === undefined) return connection;
  const problem = await externalSecretProblem(connection.sourceSecrets, mirror.metadata.namespace ?? "", context);
  return problem ?? connection;
}

function namedClusters(
  { metadata, spec: { source, cluster } }: Stored<EtcdMirror>,
  context: ReconcileContext,
): NamedClusters {
  const find = (name: string): Stored<EtcdCluster> | undefined => context.get(EtcdCluster, name, metadata.namespace);
  return { source: source.cluster === undefined ? undefined : find(source.cluster), destination: find(cluster) };
}

function stateOf(mirror: Stored<EtcdMirror>, context: ReconcileContext): MirrorState {
  const { name, namespace } = mirror.metadata;
  if (context.get(Deployment, `${name}-mirror`, namespace) !== undefined) return "begun";
  return "reason" in mirrorConnection(mirror, namedClusters(mirror, context)) ? "unable" : "able";
}

function opposed(way: readonly string[]): Missing {
  const names = way.map((name) => `"${name}"`).join(", ");
  return {
    reason: "OppositeMirror",
    message: `Nothing is copied, because changes would come back over EtcdMirror ${names}: delete that mirror, or this one, or use prefixes that do not overlap`,
  };
}

const noImage: Missing = {
  reason: "Waiting",
  message:
    "The operator does not know its own image, which mirrors run: set its environment variable SETPOINT_OPERATOR_IMAGE",
};

async function readRecord(
  { metadata: { uid } }: Stored<EtcdMirror>,
  destination: Stored<EtcdCluster>,
  context: ReconcileContext,
  clusters: ClusterAccess,
): Promise<Pick<SeenMirror, "record" | "unread">> {
  const access = instanceAccess(context, destination.metadata.namespace);
  let text: string | undefined;
  try {
    await clusters.call(destination, access, async ({ as, endpoint }) => {
      text = await as.readKey(endpoint, recordKeyOf(uid), context.signal);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    context.controller.cannotReach(`EtcdCluster "${destination.metadata.name}" for the record of the mirror`);
    return { unread: error instanceof Error ? error.message : String(error) };
  }
  return { record: parseRecord(text) };
}

/** The record goes when no pod can write it again. The copied keys stay. */
async function removeMirror(
  mirror: Stored<EtcdMirror>,
  context: ReconcileContext,
  clusters: ClusterAccess,
): Promise<Result | void> {
  const { namespace = "", deletionTimestamp } = mirror.metadata;
  for (const deployment of context.children.list(Deployment)) await context.delete(deployment);
  if ((await podsOf(mirror, context)).length > 0 || context.children.list(Deployment).length > 0)
    return context.requeueAfter(stopMs, "the pod of the mirror is stopping");
  const destination = await context.fresh(EtcdCluster, mirror.spec.cluster, namespace);
  if (destination === undefined || destination.metadata.deletionTimestamp !== undefined) return;
  context.controller.changesOutside("delete the record of the mirror");
  try {
    await clusters.call(destination, instanceAccess(context, namespace), ({ as, endpoint }) =>
      as.deleteKey(endpoint, recordKeyOf(mirror.metadata.uid), context.signal),
    );
  } catch (error) {
    context.signal.throwIfAborted();
    if (context.host.clock.now() - Date.parse(deletionTimestamp ?? "") < cleanUpMsMax)
      return context.requeueAfter(stopMs, "the destination does not answer, and has the record of the mirror");
    const why = error instanceof Error ? error.message : String(error);
    context.event(
      "Warning",
      "RecordRetained",
      `Key "${recordKeyOf(mirror.metadata.uid)}" stays in the destination: ${why}`,
    );
  }
}
