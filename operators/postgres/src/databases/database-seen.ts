/** One snapshot of a PostgresDatabase: its spec, its cluster, and what the primary has. */
import type { Stored } from "setpoint";
import type { RefusedField } from "../inner/refused-field.ts";
import type { ServedCluster } from "../inner/served-cluster.ts";
import type { DatabaseAnswer, DatabaseDefinition } from "../instance/database-protocol.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

export interface SeenDatabase {
  readonly database: Stored<PostgresDatabase>;
  readonly refusals: readonly RefusedField[];
  readonly cluster: ServedCluster;
  /** What should be in PostgreSQL. */
  readonly wanted: DatabaseDefinition;
  /** What is there; absent while nobody can be asked. */
  readonly answer?: DatabaseAnswer | undefined;
  /** Why the primary did not answer. */
  readonly silence?: string | undefined;
}
