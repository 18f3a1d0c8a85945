/** Why a server would not accept an object that is written. */
import { Backup, BackupPlan, BackupStore } from "@setpoint/data-service";
import { PostgresDatabase } from "../databases/postgres-database.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { PostgresPooler } from "../poolers/postgres-pooler.ts";
import { PostgresRole } from "../roles/postgres-role.ts";
import type { OutputObject } from "./output-object.ts";

const kinds = [PostgresCluster, PostgresRole, PostgresDatabase, PostgresPooler, BackupStore, Backup, BackupPlan];

/** By the schema and the rules of its kind; undefined: none, or it is of Kubernetes itself. */
export function acceptanceProblem(object: OutputObject): string | undefined {
  const kind = kinds.find((each) => each.kind === object.kind && object.apiVersion === `${each.group}/${each.version}`);
  if (kind === undefined) return undefined;
  try {
    kind.parse(object);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^Cannot make [^"]*"[^"]*": /, "");
  }
}
