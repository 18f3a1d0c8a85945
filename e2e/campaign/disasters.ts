/**
 * What befalls a cluster in the campaign. Each disaster makes the cluster elect another leader or live
 * without one for a while.
 */
import { setTimeout as delay } from "node:timers/promises";
import { injectFault, type NetworkNamespace } from "@setpoint/process-node";
import type { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import type { EtcdMember } from "../../examples/etcd/tour/etcd-client.ts";
import { memberProcess } from "../../examples/etcd/tour/member-process.ts";

export interface Arena {
  readonly cluster: ClusterUnderTour;
  readonly network: NetworkNamespace;
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

function kill(member: EtcdMember): void {
  process.kill(memberProcess(member.name), "SIGKILL");
}

/** The member that leads now, by etcd itself: the status of the EtcdCluster may be some seconds old. */
export async function leaderOf(cluster: ClusterUnderTour): Promise<EtcdMember> {
  const leading = (await cluster.etcdStatuses()).find(({ id, leader }) => id === leader);
  const member = (await cluster.etcdMembers()).find(({ id }) => id === leading?.id);
  if (member === undefined) throw new Error("no member of etcd leads");
  return member;
}

async function followers({ cluster }: Arena): Promise<readonly EtcdMember[]> {
  const { id } = await leaderOf(cluster);
  return (await cluster.etcdMembers()).filter((member) => member.id !== id && !member.learner);
}

/** A process that is stopped for longer than an election lasts, and then goes on where it was. */
async function pause(member: EtcdMember): Promise<void> {
  const pid = memberProcess(member.name);
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
    weight: 6,
    strike: async ({ cluster }) => kill(await leaderOf(cluster)),
  },
  {
    name: "kill the leader and a follower at once",
    weight: 1,
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
    weight: 1,
    async strike({ cluster }) {
      for (const member of await cluster.etcdMembers()) kill(member);
    },
  },
  {
    name: "stop the leader's process for 4 s",
    weight: 2,
    strike: async ({ cluster }) => pause(await leaderOf(cluster)),
  },
  {
    name: "cut the leader off for 4 s",
    weight: 2,
    strike: async (arena) => cutOff(arena, await leaderOf(arena.cluster)),
  },
  {
    name: "kill the leader while the cluster grows or shrinks",
    weight: 1,
    async strike({ cluster, pick }) {
      const size = (await cluster.get()).spec.size === 3 ? 5 : 3;
      await cluster.patch({ size });
      await delay(pick(6_000));
      kill(await leaderOf(cluster));
      await cluster.until(`${size} members`, () => cluster.isSettled(size), 120_000);
      await cluster.patch({ size: 3 });
    },
  },
];

/** A disaster by its weight. */
export function pickDisaster(pick: (below: number) => number): Disaster {
  let left = pick(disasters.reduce((sum, { weight }) => sum + weight, 0));
  for (const disaster of disasters) {
    left -= disaster.weight;
    if (left < 0) return disaster;
  }
  throw new RangeError("the weights of the disasters do not add up");
}
