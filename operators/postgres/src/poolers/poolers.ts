/** The controller of PostgresPoolers. */
import { applyMemberBudget, applyMemberServices, BoundedMap } from "@setpoint/data-service";
import { controller, type KindRef, type ReconcileContext, type Result, type Stored, watching } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { Deployment, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { primaryManager } from "../inner/primary-manager.ts";
import { watchCluster } from "../inner/watched-cluster.ts";
import type { PoolerGateway } from "../instance/pooler-gateway.ts";
import { observePooler, poolerCertificates, type PoolerPorts, preparedFor } from "./observe-pooler.ts";
import { planPooler } from "./plan-pooler.ts";
import { poolerDeployment, poolerLabel, poolerService, poolerSet, poolersLeft } from "./pooler-objects.ts";
import type { SeenPooler } from "./pooler-seen.ts";
import { poolerConditions, poolerStatus } from "./pooler-status.ts";
import { PostgresPooler } from "./postgres-pooler.ts";

/** Enough for all poolers of an operator; what is forgotten is prepared again. */
const preparedMax = 1_000;
/** How soon a pod has ended its transactions is of interest; then its pause is renewed. */
const pauseMs = { pausing: 50, paused: 2_000, instructed: 200 };

export const poolerWrites: ReadonlyMap<KindRef, readonly WriteVerb[]> = new Map<KindRef, readonly WriteVerb[]>([
  [Deployment, ["create", "patch"]],
]);

/** The key of the cluster whose pooler it is. */
export function clusterOfPooler({
  metadata: { namespace },
  spec,
}: Stored<PostgresPooler>): readonly { readonly name: string; readonly namespace?: string }[] {
  return [{ name: spec.cluster, ...(namespace === undefined ? {} : { namespace }) }];
}

export function poolers(gateway: PoolerGateway, image: string): ReturnType<typeof controller> {
  const ports: PoolerPorts = { gateway, image, prepared: new BoundedMap<string, string>(preparedMax) };
  return controller(PostgresPooler, {
    name: "postgres-poolers",
    owns: [Deployment, Service, PodDisruptionBudget],
    watches: [
      watchCluster(PostgresPooler),
      watching(
        Pod,
        ({ metadata: { labels, namespace } }) => {
          const name = labels?.[poolerLabel];
          return name === undefined ? [] : [{ name, ...(namespace === undefined ? {} : { namespace }) }];
        },
        { labelSelector: poolerLabel },
      ),
    ],
    limits: { idleRunsPerMinute: Number.POSITIVE_INFINITY },
    observe: (pooler, context) => observePooler(pooler, context, ports),
    plan: planPooler,
    actions: {
      async prepareLogin(_, context, { pooler, cluster }) {
        if (cluster.kind !== "serving") return;
        context.controller.changesOutside("create the role of poolers");
        const at = await primaryManager(cluster, context);
        await gateway.ensureLogin(at, { asked: cluster.asked }, context.signal);
        ports.prepared.set(pooler.metadata.uid, preparedFor(cluster.cluster));
      },
      async applyObjects(_, context, { pooler }) {
        await applyMemberServices(context, poolerSet(pooler), {
          roles: [poolerService],
          names: [pooler.metadata.name],
        });
        await applyMemberBudget(context, poolerSet(pooler), poolersLeft(pooler));
        await context.apply(poolerDeployment(pooler, image));
      },
      instruct: ({ pods }, context, seen) => instruct(pods, context, seen, gateway),
    },
    status: poolerStatus,
    conditions: poolerConditions,
  });
}

/** All at once: each must learn of it even when another one hangs. */
async function instruct(
  names: readonly string[],
  context: ReconcileContext,
  { pooler, pods, wanted }: SeenPooler,
  gateway: PoolerGateway,
): Promise<Result> {
  context.controller.changesOutside(`instruct the pods of PostgresPooler "${pooler.metadata.name}"`);
  const certificates = await poolerCertificates(pooler, context);
  const sent = pods.map(async ({ name, address }) => {
    if (wanted === undefined || address === undefined || !names.includes(name)) return undefined;
    return gateway.instruct({ url: address, certificates }, wanted, context.signal);
  });
  const answers = await Promise.allSettled(sent);
  context.signal.throwIfAborted();
  const failed = answers.find((each) => each.status === "rejected");
  if (failed !== undefined) return context.requeueAfter(pauseMs.instructed, String(failed.reason));
  const isSettled = wanted?.pauseMs !== undefined && pods.every(({ report }) => report?.pause === "yes");
  if (isSettled) return context.requeueAfter(pauseMs.paused, "clients wait for the new primary");
  return context.requeueAfter(
    wanted?.pauseMs === undefined ? pauseMs.instructed : pauseMs.pausing,
    "see what the pods make of it",
  );
}
