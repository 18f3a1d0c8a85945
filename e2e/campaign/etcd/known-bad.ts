/**
 * Shows that the checker finds a real fault: a member that is cut off answers serializable reads from its own
 * old data, which etcd documents as not linearizable. A campaign that finds nothing says something only after
 * this.
 */
import { setTimeout as delay } from "node:timers/promises";
import { injectFault } from "@setpoint/process-node";
import { type EtcdClient, etcdClient } from "../../../examples/etcd/tour/etcd-client.ts";
import type { Arena } from "../target.ts";
import type { EtcdTarget } from "./etcd-target.ts";
import { isLinearizable } from "./linearizability.ts";
import type { Operation } from "./operation.ts";

const key = "known-bad";

/** Throws when the checker takes what a cut-off member answers for linearizable. */
export async function checkKnownBad({ target, network }: Pick<Arena<EtcdTarget>, "target" | "network">): Promise<void> {
  const { cluster } = target;
  const leader = await target.leader();
  const pods = await cluster.pods();
  const follower = pods.find(({ metadata }) => metadata.name !== leader);
  const address = follower?.status?.podIP ?? "";
  const others = pods.filter((pod) => pod !== follower).map(({ status }) => status?.podIP ?? "");
  await using parts = new AsyncDisposableStack();
  const client = parts.adopt(etcdClient(await cluster.clientEndpoint(), 1_000), (each) => each.close());
  const stale = parts.adopt(etcdClient(await cluster.endpointOf(address), 10_000), (each) => each.close());
  const history: Operation[] = [];
  await writeAtLast(client, "old", history);
  // From the other members alone: this machine still reaches it.
  for (const to of others) parts.use(await injectFault(network, { kind: "partition", from: address, to }));
  await writeAtLast(client, "new", history);
  const startMs = performance.now();
  const value = await stale.getSerializable(key);
  history.push({ kind: "read", key, value, startMs, endMs: performance.now() });
  if (value !== "old") throw new Error(`the member that is cut off answered ${value}, expected its old data`);
  if (isLinearizable(history)) throw new Error("the checker does not find a stale read");
}

/**
 * The Service may send a client to a member that is cut off or does not listen yet: it tries again until one
 * takes the write.
 */
async function writeAtLast(client: EtcdClient, value: string, history: Operation[]): Promise<void> {
  for (;;) {
    const startMs = performance.now();
    try {
      await client.put(key, value);
      history.push({ kind: "write", key, value, startMs, endMs: performance.now() });
      return;
    } catch {
      await delay(100);
    }
  }
}
