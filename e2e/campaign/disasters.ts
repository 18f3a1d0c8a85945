/**
 * What befalls a cluster in the campaign. Each disaster makes the cluster elect another leader or live
 * without one for a while.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isNotFound } from "@setpoint/apimachinery";
import { Backup, BackupStore } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { injectFault, type NetworkNamespace } from "@setpoint/process-node";
import { Secret } from "setpoint/kinds";
import { backUp, createStore } from "../../examples/etcd/tour/backups.ts";
import type { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import type { EtcdMember } from "../../examples/etcd/tour/etcd-client.ts";
import { findMemberProcess } from "../../examples/etcd/tour/member-process.ts";
import type { VolumesDisk } from "./volumes-disk.ts";

export interface Arena {
  readonly cluster: ClusterUnderTour;
  readonly network: NetworkNamespace;
  readonly disk: VolumesDisk;
  /** From 0 up to, and not including, `below`. */
  readonly pick: (this: void, below: number) => number;
}

export interface Disaster {
  readonly name: string;
  /** How often it is picked, relative to the others. */
  readonly weight: number;
  /** Strikes, and takes back what does not end by itself. */
  strike(arena: Arena): Promise<void>;
}

const stopMs = 4_000;
const cutMs = 4_000;
const fullMs = 8_000;
const electionMsMax = 30_000;
const endMsMax = 120_000;

/** A disk that another disaster filled may have ended the member already. */
export function kill({ name }: EtcdMember): void {
  const pid = findMemberProcess(name);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

/**
 * The member that leads now, by etcd itself: the status of the EtcdCluster may be some seconds old. Waits
 * while there is none, because an election is under way.
 */
export async function leaderOf(cluster: ClusterUnderTour): Promise<EtcdMember> {
  let member: EtcdMember | undefined;
  const isFound = async (): Promise<boolean> => {
    const leading = (await cluster.etcdStatuses()).find(({ id, leader }) => id === leader);
    member = (await cluster.etcdMembers()).find(({ id }) => id === leading?.id);
    return member !== undefined;
  };
  await cluster.until("a leader", isFound, electionMsMax);
  if (member === undefined) throw new Error("no member of etcd leads");
  return member;
}

async function followers({ cluster }: Arena): Promise<readonly EtcdMember[]> {
  const { id } = await leaderOf(cluster);
  return (await cluster.etcdMembers()).filter((member) => member.id !== id && !member.learner);
}

/** A process that is stopped for longer than an election lasts, and then goes on where it was. */
async function pause({ name }: EtcdMember): Promise<void> {
  const pid = findMemberProcess(name);
  if (pid === undefined) return;
  process.kill(pid, "SIGSTOP");
  try {
    await delay(stopMs);
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

async function cutOff({ cluster, network }: Arena, member: EtcdMember): Promise<void> {
  const pod = (await cluster.pods()).find(({ metadata }) => metadata.name === member.name);
  const from = pod?.status?.podIP;
  if (from === undefined) throw new Error(`pod ${member.name} has no address`);
  await using _fault = await injectFault(network, { kind: "partition", from });
  await delay(cutMs);
}

export const disasters: readonly Disaster[] = [
  {
    name: "kill the leader",
    weight: 12,
    strike: async ({ cluster }) => kill(await leaderOf(cluster)),
  },
  {
    name: "kill the leader and a follower at once",
    weight: 2,
    async strike(arena) {
      const leader = await leaderOf(arena.cluster);
      const others = await followers(arena);
      kill(leader);
      const other = others[arena.pick(others.length)];
      if (other !== undefined) kill(other);
    },
  },
  {
    name: "kill all members",
    weight: 2,
    async strike({ cluster }) {
      for (const member of await cluster.etcdMembers()) kill(member);
    },
  },
  {
    name: "stop the leader's process for 4 s",
    weight: 4,
    strike: async ({ cluster }) => pause(await leaderOf(cluster)),
  },
  {
    name: "cut the leader off for 4 s",
    weight: 4,
    strike: async (arena) => cutOff(arena, await leaderOf(arena.cluster)),
  },
  {
    name: "kill the leader while the cluster grows or shrinks",
    weight: 2,
    async strike({ cluster, pick }) {
      const size = (await cluster.get()).spec.size === 3 ? 5 : 3;
      await cluster.patch({ size });
      await delay(pick(6_000));
      kill(await leaderOf(cluster));
      await cluster.until(`${size} members`, () => cluster.isSettled(size), 120_000);
      await cluster.patch({ size: 3 });
    },
  },
  {
    name: "kill the leader while the disk of all members is full for 8 s",
    // It is the disk of the other clusters, too.
    weight: 1,
    async strike({ cluster, disk }) {
      using _full = disk.fill();
      kill(await leaderOf(cluster));
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

/** The Backup must succeed in spite of it: its controller takes another member and begins again. */
async function killDuringBackup({ cluster, pick }: Arena): Promise<void> {
  const { client, name, namespace } = cluster;
  await client.get(BackupStore, { name, namespace }).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    await createStore(cluster, name);
  });
  const backup = { name: `${name}-${Date.now()}`, namespace };
  const ended = backUp(cluster, name, backup.name);
  const [{ status }] = await Promise.all([ended, delay(pick(3_000)).then(async () => kill(await leaderOf(cluster)))]);
  if (status?.phase !== "Succeeded") throw new Error(`the backup under fire failed: ${JSON.stringify(status)}`);
  await client.delete(Backup, backup);
}

/** Certificates whose Secret is gone are issued again, with the next change of the cluster. */
async function killDuringRenewal({ cluster, pick }: Arena): Promise<void> {
  const { client, name, namespace } = cluster;
  const keys = ["server-tls", "peer-tls"].map((each) => ({ name: `${name}-${each}`, namespace }));
  for (const key of keys) await client.delete(Secret, key);
  const metadata = { annotations: { renewed: String(Date.now()) } };
  await client.patch(EtcdCluster, { name, namespace }, { metadata });
  await delay(pick(1_500));
  kill(await leaderOf(cluster));
  const isIssued = async (): Promise<boolean> => {
    await Promise.all(keys.map((key) => client.get(Secret, key)));
    return true;
  };
  await cluster.until("the new certificates", isIssued, endMsMax);
}

/** A disaster by its weight. */
export function pickDisaster(pick: (below: number) => number): Disaster {
  let left = pick(disasters.reduce((sum, { weight }) => sum + weight, 0));
  for (const disaster of disasters) {
    left -= disaster.weight;
    if (left < 0) return disaster;
  }
  throw new RangeError("the weights of the disasters do not add up");
}
