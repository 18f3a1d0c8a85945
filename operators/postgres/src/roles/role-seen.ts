/** One snapshot of a PostgresRole: its spec, its Secret, its cluster, and what the primary has. */
import type { Stored } from "setpoint";
import type { RefusedField } from "../inner/refused-field.ts";
import type { ServedCluster } from "../inner/served-cluster.ts";
import type { RoleAnswer, RoleDefinition } from "../instance/inner-protocol.ts";
import type { PostgresRole } from "./postgres-role.ts";
import type { GeneratedSecret } from "./role-secret.ts";

export type SeenPassword =
  | { readonly kind: "none" }
  /** A user's Secret. */
  | { readonly kind: "given"; readonly verifier: string }
  /** The operator's Secret. */
  | ({ readonly kind: "generated" } & GeneratedSecret)
  /** The operator's Secret, which does not exist yet. */
  | { readonly kind: "absent" }
  /** No Secret that may be used. */
  | { readonly kind: "refused"; readonly why: string };

export interface SeenRole {
  readonly role: Stored<PostgresRole>;
  readonly refusals: readonly RefusedField[];
  readonly cluster: ServedCluster;
  readonly password: SeenPassword;
  /** What should be in PostgreSQL. */
  readonly wanted: readonly RoleDefinition[];
  /** What is there; absent while nobody can be asked. */
  readonly answer?: RoleAnswer | undefined;
  /** Why the primary did not answer. */
  readonly silence?: string | undefined;
}
