/** What befalls etcd in the campaign. */
import { setTimeout as delay } from "node:timers/promises";
import { isNotFound } from "@setpoint/apimachinery";
import { Backup, BackupStore } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { Secret } from "setpoint/kinds";
import { backUp, createStore } from "../../../examples/etcd/tour/backups.ts";
import { commonDisasters, kill } from "../disasters.ts";
import { wholeMsMax } from "../strike.ts";
import type { Arena, Disaster } from "../target.ts";
import type { EtcdTarget } from "./etcd-target.ts";

const fullMs = 8_000;
const endMsMax = 120_000;

const killLeader = async ({ target }: Arena<EtcdTarget>): Promise<void> => kill(target, await target.leader());

export const etcdDisasters: readonly Disaster<EtcdTarget>[] = [
  ...commonDisasters({ leader: "leader", follower: "follower", members: "members", stopSeconds: 4, cutSeconds: 4 }),
  {
    name: "kill the leader while the cluster grows or shrinks",
    weight: 2,
    async strike(arena) {
      const { cluster } = arena.target;
      const size = (await cluster.get()).spec.size === 3 ? 5 : 3;
      await cluster.patch({ size });
      await delay(arena.pick(6_000));
      await killLeader(arena);
      await cluster.until(`${size} members`, () => cluster.isSettled(size), 120_000);
      await cluster.patch({ size: 3 });
    },
  },
  {
    name: "kill the leader while the disk of all members is full for 8 s",
    // It is the disk of the other clusters, too.
    weight: 1,
    async strike(arena) {
      using _full = arena.disk.fill();
      await killLeader(arena);
      await delay(fullMs);
    },
  },
  {
    name: "kill the leader during a backup",
    weight: 2,
    strike: killDuringBackup,
  },
  {
    name: "kill the leader while all certificates are replaced",
    weight: 2,
    strike: killDuringRenewal,
  },
];

export const upgradeUnderFire: Disaster<EtcdTarget> = {
  name: "kill the leader during an upgrade",
  weight: 0,
  async strike(arena) {
    const { cluster } = arena.target;
    await cluster.patch({ version: "3.5.16" });
    await delay(arena.pick(4_000));
    await killLeader(arena);
    await cluster.until("the upgrade", () => cluster.isSettled(3, "3.5.16"), wholeMsMax);
  },
};

/** The Backup must succeed in spite of it: its controller takes another member and begins again. */
async function killDuringBackup(arena: Arena<EtcdTarget>): Promise<void> {
  const { cluster } = arena.target;
  const { client, name, namespace } = cluster;
  await client.get(BackupStore, { name, namespace }).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    await createStore(cluster, name);
  });
  const backup = { name: `${name}-${Date.now()}`, namespace };
  const ended = backUp(cluster, name, backup.name);
  const [{ status }] = await Promise.all([ended, delay(arena.pick(3_000)).then(() => killLeader(arena))]);
  if (status?.phase !== "Succeeded") throw new Error(`the backup under fire failed: ${JSON.stringify(status)}`);
  await client.delete(Backup, backup);
}

/** Certificates whose Secret is gone are issued again, with the next change of the cluster. */
async function killDuringRenewal(arena: Arena<EtcdTarget>): Promise<void> {
  const { cluster } = arena.target;
  const { client, name, namespace } = cluster;
  const keys = ["server-tls", "peer-tls"].map((each) => ({ name: `${name}-${each}`, namespace }));
  for (const key of keys) await client.delete(Secret, key);
  const metadata = { annotations: { renewed: String(Date.now()) } };
  await client.patch(EtcdCluster, { name, namespace }, { metadata });
  await delay(arena.pick(1_500));
  await killLeader(arena);
  const isIssued = async (): Promise<boolean> => {
    await Promise.all(keys.map((key) => client.get(Secret, key)));
    return true;
  };
  await cluster.until("the new certificates", isIssued, endMsMax);
}
