/** The promises about asynchronous replication; those about all others are violations of the model. */
import type { Oracle } from "setpoint/testing";
import { positionOf } from "../instance/instance-protocol.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import type { PostgresModel } from "./postgres-model.ts";
import { commitBytes } from "./simulated-server.ts";

/** What a failover has lost is at most what the status declares. */
export function declaredLosses(postgres: PostgresModel): Oracle {
  return {
    name: "a failover loses at most what the status declares",
    judge: (view) => ({
      ended() {
        const last = postgres.ledger.losses.at(-1);
        if (last === undefined) return undefined;
        const { to, lostAtMost = "" } = view.list(PostgresCluster)[0]?.status?.lastFailover ?? {};
        const { bytes, after } = declared(lostAtMost);
        const known = last.commits.filter(({ end }) => end <= after);
        return to !== last.primary || known.length * commitBytes > bytes
          ? `${last.primary} lacks ${last.commits.length} commits, ${known.length} of them reported; the status declares "${lostAtMost}" for ${to ?? "no failover"}`
          : undefined;
      },
    }),
  };
}

/** How many bytes, and from which position on anything. */
function declared(text: string): { readonly bytes: number; readonly after: number } {
  const bytes = Number(/^(\d+) bytes/.exec(text)?.[1] ?? 0);
  const [, position] = /committed after (\S+)$/.exec(text) ?? [];
  if (position !== undefined) return { bytes, after: Number(positionOf(position)) };
  return { bytes, after: text.endsWith("committed after its last report") ? 0 : Number.POSITIVE_INFINITY };
}
