/** One snapshot of a PostgresPooler: its spec, its cluster, its objects, and what its pods report. */
import type { Stored } from "setpoint";
import type { RefusedField } from "../inner/refused-field.ts";
import type { ServedCluster } from "../inner/served-cluster.ts";
import type { DesiredPooler, PoolerReport } from "../instance/pooler-protocol.ts";
import type { PostgresPooler } from "./postgres-pooler.ts";

export interface SeenPoolerPod {
  readonly name: string;
  readonly address: string | undefined;
  readonly isReady: boolean;
  /** Its own answer; absent when it gave none. */
  readonly report?: PoolerReport | undefined;
}

export interface SeenPooler {
  readonly pooler: Stored<PostgresPooler>;
  readonly refusals: readonly RefusedField[];
  readonly cluster: ServedCluster;
  readonly hasCertificate: boolean;
  /** The primary of this term has the role of poolers. */
  readonly hasLogin: boolean;
  /** What its objects should be made of, and are. */
  readonly objects: { readonly wanted: string; readonly present: string | undefined };
  /** A name that the pooler needs and another owner has. */
  readonly taken?: string | undefined;
  readonly pods: readonly SeenPoolerPod[];
  /** What the pods should be; absent while there has been no primary yet. */
  readonly wanted?: DesiredPooler | undefined;
  /** The change of the primary that clients wait for. */
  readonly pauseFor?: string | undefined;
}

/** All clients wait, and no transaction is open. A pod that serves nobody holds nobody up. */
export function isPaused({ pods }: Pick<SeenPooler, "pods">): boolean {
  return pods.filter(({ isReady }) => isReady).every(({ report }) => report?.pause === "yes");
}
