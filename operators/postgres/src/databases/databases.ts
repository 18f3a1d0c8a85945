/** The controller of PostgresDatabases. */
import { controller, type ReconcileContext, type Result, seconds, type Stored } from "setpoint";
import { primaryManager } from "../inner/primary-manager.ts";
import { servedCluster } from "../inner/served-cluster.ts";
import { watchCluster } from "../inner/watched-cluster.ts";
import type { InnerGateway } from "../instance/inner-gateway.ts";
import { databaseConditions, databaseStatus } from "./database-status.ts";
import { observeDatabase } from "./observe-database.ts";
import { planDatabase } from "./plan-database.ts";
import { databaseNameOf, PostgresDatabase } from "./postgres-database.ts";

/** Nothing else shows that a session has ended. */
const retryMs = seconds(5);

export function databases(gateway: InnerGateway): ReturnType<typeof controller> {
  return controller(PostgresDatabase, {
    name: "postgres-databases",
    finalizer: "postgres.setpoint.dev/database",
    watches: [watchCluster(PostgresDatabase)],
    observe: (database, context) => observeDatabase(database, context, gateway),
    plan: planDatabase,
    actions: {
      async changeDatabase({ name }, context, { database, cluster, wanted }) {
        if (cluster.kind !== "serving") return;
        context.controller.changesOutside(`change database ${name}`);
        const { uid, generation = 0 } = database.metadata;
        const holder = { uid, revision: generation, adopts: database.spec.adopt };
        const at = await primaryManager(cluster, context);
        await gateway.changeDatabase(at, { asked: cluster.asked, holder, database: wanted }, context.signal);
        context.log.info("Changed a database", { database: name, cluster: database.spec.cluster });
      },
    },
    status: databaseStatus,
    conditions: databaseConditions,
    cleanup: (database, context) => removeDatabase(database, context, gateway),
  });
}

async function removeDatabase(
  database: Stored<PostgresDatabase>,
  context: ReconcileContext,
  gateway: InnerGateway,
): Promise<Result | void> {
  const { spec, metadata } = database;
  const cluster = servedCluster(spec.cluster, context, metadata.namespace);
  // Databases go with their cluster.
  if (cluster.kind === "missing") return;
  if (cluster.kind === "waiting") return context.requeueAfter(retryMs, `waiting to drop the database: ${cluster.why}`);
  const name = databaseNameOf(database);
  context.controller.changesOutside(`drop database ${name}`);
  const at = await primaryManager(cluster, context);
  const removal = {
    asked: cluster.asked,
    holder: { uid: metadata.uid, revision: metadata.generation ?? 0, adopts: false },
    name,
    endsSessions: spec.endSessions,
    isRelease: spec.reclaimPolicy === "retain",
  };
  const { heldBack } = await gateway.removeDatabase(at, removal, context.signal);
  if (heldBack.length === 0) return;
  return context.requeueAfter(
    retryMs,
    `database "${name}" is in use: ${heldBack.join("; ")}. End them, or set spec.endSessions for sessions, or spec.reclaimPolicy: retain`,
  );
}
