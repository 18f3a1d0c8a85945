/** The steps of the tour: each proves one promise of the operator and returns what it measured. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pod } from "setpoint/kinds";
import { isNotFound } from "@setpoint/apimachinery";
import { EtcdCluster } from "@setpoint/etcd-operator";
import type { ClusterUnderTour } from "./cluster-under-tour.ts";
import { TourError } from "./cluster-under-tour.ts";
import { etcdClient, urlOf } from "./etcd-client.ts";
import type { LedgerWriter } from "./ledger-writer.ts";
import { memberProcess } from "./member-process.ts";

export interface TourStep {
  readonly name: string;
  run(cluster: ClusterUnderTour, writer: LedgerWriter): Promise<string>;
}

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new TourError(sentence);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/**
 * Watches etcd's member list while `work` runs: how many learners at once, and how often the leader changed.
 */
async function observingMembership(
  cluster: ClusterUnderTour,
  work: () => Promise<void>,
): Promise<{ learnersMax: number; leaders: ReadonlySet<string>; sizes: readonly number[] }> {
  const done = new AbortController();
  const leaders = new Set<string>();
  const sizes: number[] = [];
  let learnersMax = 0;
  const look = async (): Promise<void> => {
    while (!done.signal.aborted) {
      const members = await cluster.etcdMembers().catch(() => []);
      const learners = members.filter((each) => each.learner).length;
      learnersMax = Math.max(learnersMax, learners);
      if (members.length > 0 && sizes.at(-1) !== members.length) sizes.push(members.length);
      for (const { leader } of await cluster.etcdStatuses()) if (leader !== "0") leaders.add(leader);
      await sleep(50);
    }
  };
  const looking = look();
  try {
    await work();
  } finally {
    done.abort();
    await looking;
  }
  return { learnersMax, leaders, sizes };
}

function checkOneAtATime(sizes: readonly number[]): void {
  const jumps = sizes.slice(1).filter((size, i) => Math.abs(size - (sizes[i] ?? size)) > 1);
  check(jumps.length === 0, `membership changed by more than one at a time: ${sizes.join(" → ")}`);
}

/** The status may be older than the latest restart: a member that is not up yet is waited for. */
export async function checkHashes(cluster: ClusterUnderTour, size: number): Promise<void> {
  const doAllAnswer = async (): Promise<boolean> => (await cluster.etcdStatuses()).length === size;
  await cluster.until(`answers of ${size} members`, doAllAnswer);
  const hashes = await cluster.hashes();
  check(hashes.length === size && new Set(hashes).size === 1, `the members' data differ: hashes ${hashes.join(", ")}`);
}

export const writeAndRead: TourStep = {
  name: "write and read through the client Service",
  async run(cluster) {
    const endpoint = await cluster.clientEndpoint();
    const etcd = etcdClient(endpoint, 5_000);
    try {
      await etcd.put("greeting", "hello");
      check((await etcd.get("greeting")) === "hello", "the key that was written could not be read back");
    } finally {
      etcd.close();
    }
    return `through ${urlOf(endpoint)}`;
  },
};

export const killLeader: TourStep = {
  name: "kill -9 the leader",
  async run(cluster, writer) {
    const before = await cluster.members();
    const leader = await cluster.leader();
    writer.mark();
    process.kill(memberProcess(leader.name), "SIGKILL");
    const isReplaced = async (): Promise<boolean> =>
      !(await cluster.members()).some((each) => each.id === leader.id) && (await cluster.isSettled(before.length));
    const healedMs = await cluster.until("the replacement of the dead leader", isReplaced);
    const after = await cluster.etcdMembers();
    check(
      !after.some((each) => each.id === leader.id || each.name === leader.name),
      `the dead member ${leader.name} (${leader.id}) is still listed`,
    );
    const newcomer = after.find((each) => !before.some((old) => old.name === each.name));
    check(newcomer !== undefined, "no member with a new name joined");
    await checkHashes(cluster, before.length);
    return `longest gap between writes ${seconds(writer.gapMs)}, ${before.length} healthy again after ${seconds(healedMs)}, ${leader.name} → ${newcomer?.name}`;
  },
};

export const scale: TourStep = {
  name: "scale 3 → 5 → 3",
  async run(cluster) {
    const leader = await cluster.leader();
    const up = await observingMembership(cluster, async () => {
      await cluster.patch({ size: 5 });
      await cluster.until("growing to 5 members", () => cluster.isSettled(5));
    });
    check(up.learnersMax === 1, `${up.learnersMax} learners were seen at once, one was expected`);
    checkOneAtATime(up.sizes);
    const down = await observingMembership(cluster, async () => {
      await cluster.patch({ size: 3 });
      await cluster.until("shrinking to 3 members", () => cluster.isSettled(3));
    });
    checkOneAtATime(down.sizes);
    check((await cluster.leader()).id === leader.id, "the leader was removed although others could be");
    await checkHashes(cluster, 3);
    return `members ${[...up.sizes, ...down.sizes.slice(1)].join(" → ")}, ${leader.name} led throughout`;
  },
};

/** Records the order in which members come to answer with a version. */
async function upgradeOrder(
  cluster: ClusterUnderTour,
  version: string,
  work: () => Promise<void>,
): Promise<readonly string[]> {
  const done = new AbortController();
  const order: string[] = [];
  const look = async (): Promise<void> => {
    while (!done.signal.aborted) {
      const upgraded = (await cluster.etcdStatuses()).filter(
        (each) => each.version === version && !order.includes(each.id),
      );
      check(upgraded.length <= 1, "two members were restarted at once");
      order.push(...upgraded.map((each) => each.id));
      await sleep(50);
    }
  };
  const looking = look();
  try {
    await work();
  } finally {
    done.abort();
    await looking;
  }
  return order;
}

/** Upgrades three members; throws unless they are restarted one at a time, the leader last. */
export async function upgradeTo(cluster: ClusterUnderTour, writer: LedgerWriter, version: string): Promise<string> {
  const leader = await cluster.leader();
  writer.mark();
  const order = await upgradeOrder(cluster, version, async () => {
    await cluster.patch({ version });
    await cluster.until("the upgrade", () => cluster.isSettled(3, version), 90_000);
    await sleep(200);
  });
  check(
    order.length === 3 && order.at(-1) === leader.id,
    `the leader ${leader.id} was not upgraded last: ${order.join(", ")}`,
  );
  await checkHashes(cluster, 3);
  return `one at a time, ${leader.name} (leader) last, longest gap between writes ${seconds(writer.gapMs)}`;
}

export const upgrade: TourStep = {
  name: "upgrade 3.4 → 3.5",
  run: (cluster, writer) => upgradeTo(cluster, writer, "3.5.16"),
};

export const operatorAway: TourStep = {
  name: "stop the operator, kill a member, start the operator",
  async run(cluster) {
    await cluster.scaleOperator(0);
    const operatorGone = async (): Promise<boolean> => {
      const options = {
        namespace: cluster.operator.namespace,
        labelSelector: `app.kubernetes.io/name=${cluster.operator.name}`,
      };
      return (await cluster.client.listAll(Pod, options)).items.length === 0;
    };
    await cluster.until("the end of the operator's pod", operatorGone);
    const victim = (await cluster.members()).find((each) => each.role === "Follower");
    if (victim === undefined) throw new TourError("there is no follower to kill");
    process.kill(memberProcess(victim.name), "SIGKILL");
    const isDown = async (): Promise<boolean> =>
      (await cluster.pods()).some((pod) => pod.metadata.name === victim.name && pod.status?.phase === "Failed");
    await cluster.until("the failure of the pod", isDown);
    await sleep(1_500);
    const present = await cluster.etcdMembers();
    check(
      present.some((each) => each.id === victim.id),
      "another client repaired the cluster while the operator was away",
    );
    await cluster.scaleOperator(1);
    const isHealed = async (): Promise<boolean> =>
      !(await cluster.etcdMembers()).some((each) => each.id === victim.id) && (await cluster.isSettled(3));
    const healedMs = await cluster.until("healing after the operator's return", isHealed);
    await checkHashes(cluster, 3);
    return `${victim.name} stayed dead while the operator was away, healed ${seconds(healedMs)} after its start`;
  },
};

/** Steps 1–5, under which the writer runs. */
export const stepsUnderWrites: readonly TourStep[] = [writeAndRead, killLeader, scale, upgrade, operatorAway];

export async function deleteCluster(cluster: ClusterUnderTour): Promise<string> {
  await cluster.client.delete(EtcdCluster, { name: cluster.name, namespace: cluster.namespace });
  const isGone = async (): Promise<boolean> =>
    (await cluster.hasNoLeftovers()) && (await cluster.get().then(() => false, isNotFound));
  await cluster.until("the end of pods, services and volumes", isGone);
  return "pods, services and volumes are gone";
}
