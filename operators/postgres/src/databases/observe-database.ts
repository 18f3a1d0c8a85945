/** Reads everything that the plan of a database needs; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { primaryManager } from "../inner/primary-manager.ts";
import { olderRival } from "../inner/rival.ts";
import { servedCluster } from "../inner/served-cluster.ts";
import type { InnerGateway } from "../instance/inner-gateway.ts";
import type { SeenDatabase } from "./database-seen.ts";
import { databaseNameOf, PostgresDatabase } from "./postgres-database.ts";
import { databaseRefusals, wantedDatabase } from "./wanted-database.ts";

export async function observeDatabase(
  database: Stored<PostgresDatabase>,
  context: ReconcileContext,
  gateway: InnerGateway,
): Promise<SeenDatabase> {
  const cluster = servedCluster(database.spec.cluster, context, database.metadata.namespace);
  const known = cluster.kind === "missing" ? undefined : cluster.cluster;
  const refusals = databaseRefusals(database, known, rivalOf(database, context));
  const wanted = wantedDatabase(database);
  const seen = { database, refusals, cluster, wanted };
  if (cluster.kind !== "serving" || refusals.length > 0) return seen;
  try {
    const at = await primaryManager(cluster, context);
    return {
      ...seen,
      answer: await gateway.askDatabase(at, { asked: cluster.asked, database: wanted }, context.signal),
    };
  } catch (error) {
    context.signal.throwIfAborted();
    context.controller.cannotReach(`PostgresCluster "${database.spec.cluster}"`);
    return { ...seen, silence: error instanceof Error ? error.message : String(error) };
  }
}

function rivalOf(database: Stored<PostgresDatabase>, { list }: ReconcileContext): string | undefined {
  const same = list(PostgresDatabase).filter(
    (each) => each.spec.cluster === database.spec.cluster && databaseNameOf(each) === databaseNameOf(database),
  );
  return olderRival(database, same);
}
