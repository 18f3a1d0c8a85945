/** What befalls PostgreSQL in the campaign. */
import { setTimeout as delay } from "node:timers/promises";
import { PostgresCluster } from "@setpoint/postgres-operator";
import { Pod } from "setpoint/kinds";
import { commonDisasters, cutOff, kill, signal, stop } from "../disasters.ts";
import type { Arena, Disaster } from "../target.ts";
import type { PostgresTarget } from "./postgres-target.ts";

/** Longer than a lease, and than a failover takes. */
const stopSeconds = 20;
/** Longer than the first minute of a term. */
const minuteMs = 62_000;
const behindMs = 1_500;
const switchMsMax = 60_000;

type PostgresArena = Arena<PostgresTarget>;

const common = commonDisasters({
  leader: "primary",
  follower: "replica",
  members: "instances",
  stopSeconds,
  cutSeconds: stopSeconds,
});

export const postgresDisasters: readonly Disaster<PostgresTarget>[] = [
  ...common,
  ...common.filter(({ name }) => name.endsWith(" s")).map(afterMinute),
  {
    name: "kill the primary's server, not its manager",
    weight: 4,
    strike: async ({ target }) => signalOne(await target.serverOf(await target.leader()), "SIGKILL"),
  },
  {
    name: "kill the primary's instance manager alone",
    weight: 4,
    strike: async ({ target }) => signalOne(await target.managerOf(await target.leader()), "SIGKILL"),
  },
  {
    name: "delete the primary's pod without grace",
    weight: 4,
    strike: async ({ target }) => deletePod(target, await target.leader()),
  },
  {
    name: `stop the primary's server, not its manager, for ${stopSeconds} s`,
    weight: 2,
    async strike({ target }) {
      const manager = await target.managerOf(await target.leader());
      const all = await target.processesOf(await target.leader());
      await stop(
        all.filter((pid) => pid !== manager),
        stopSeconds * 1_000,
      );
    },
  },
  {
    name: "kill the primary and, while it is replaced, the operator",
    weight: 4,
    async strike({ target, pick }) {
      await kill(target, await target.leader());
      await delay(pick(4_000));
      await target.killOperator();
    },
  },
  {
    name: "delete the primary's pod while its replicas are cut off",
    weight: 4,
    strike: killAhead,
  },
  {
    name: "switchover",
    weight: 4,
    strike: switchOver,
  },
  {
    name: "kill a replica",
    weight: 2,
    async strike({ target, pick }) {
      const replicas = await target.followers();
      await kill(target, replicas[pick(replicas.length)] ?? "");
    },
  },
];

/** From then on the operator waits for 4 s. */
function afterMinute(disaster: Disaster): Disaster {
  const prepare = (): Promise<void> => delay(minuteMs);
  return { ...disaster, name: `${disaster.name}, after a minute of peace`, weight: 2, prepare };
}

function signalOne(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid !== undefined) signal(pid, name);
}

async function deletePod({ cluster }: PostgresTarget, name: string): Promise<void> {
  await cluster.client.delete(Pod, { name, namespace: cluster.namespace }, { gracePeriodSeconds: 0 });
}

/** Without synchronous replication it has commits that no replica has. */
export async function killAhead(arena: PostgresArena): Promise<void> {
  const { target } = arena;
  const primary = await target.leader();
  await using _fault = await cutOff(arena, primary, await target.replicasOf(primary));
  await delay(behindMs);
  await kill(target, primary);
  await deletePod(target, primary);
}

async function switchOver({ target, pick }: PostgresArena): Promise<void> {
  const replicas = await target.followers();
  const wanted = replicas[pick(replicas.length)] ?? "";
  const annotations = { "postgres.setpoint.dev/switchover-to": wanted };
  await target.cluster.client.patch(PostgresCluster, target.cluster, { metadata: { annotations } });
  await target.until(`${wanted} to be the primary`, async () => (await target.leader()) === wanted, switchMsMax);
}
