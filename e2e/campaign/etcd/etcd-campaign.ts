/** The campaign's clusters of etcd: a ledger and registers under fire, before and after an upgrade. */
import { setTimeout as delay } from "node:timers/promises";
import { isNotFound } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import { BackupStore } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { ClusterUnderTour } from "../../../examples/etcd/tour/cluster-under-tour.ts";
import { LedgerWriter } from "../../../examples/etcd/tour/ledger-writer.ts";
import { chosen, pickDisaster } from "../disasters.ts";
import type { Engine, Life } from "../engine.ts";
import { plain as plainTarget, type Results } from "../results.ts";
import { strike, type Strike, wholeMsMax } from "../strike.ts";
import { etcdDisasters, upgradeUnderFire } from "./etcd-disasters.ts";
import { EtcdTarget } from "./etcd-target.ts";
import { checkKnownBad } from "./known-bad.ts";
import { PlainCluster } from "./plain-cluster.ts";
import { registerClient, RegisterClients } from "./register-clients.ts";

const operator = { name: "etcd-operator", namespace: "setpoint-system" };
/** A cluster is struck this often in each version; then its ledger is checked. */
const strikesPerPeriod = 12;
const volumes = {
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "512Mi" } } },
} satisfies Partial<EtcdCluster["spec"]>;

export const etcdEngine: Engine = {
  name: "etcd",
  manifests: new URL("../../../operators/etcd/manifests/install.yaml", import.meta.url).pathname,
  words: { operations: "operations on registers", violations: "keys not linearizable" },
  live,
  clear: async (life) => remove(clusterOf(life)),
  strikePlain,
};

function clusterOf({ client, name, namespace }: Life): ClusterUnderTour {
  return new ClusterUnderTour(client, name, namespace, operator);
}

/** One cluster from its creation, through an upgrade, to its deletion, struck all the time. */
async function live(life: Life): Promise<void> {
  const { client, name, namespace } = life;
  const cluster = clusterOf(life);
  const spec = { size: 3, version: "3.4.23", ...volumes } as const;
  await client.create(EtcdCluster, EtcdCluster({ name, namespace, spec }));
  await cluster.until(`the start of ${name}`, () => cluster.isSettled(3), wholeMsMax);
  const arena = { target: new EtcdTarget(cluster), ...life };
  if (life.isFirst) {
    await checkKnownBad(arena);
    console.log("The checker finds the stale read of a member that is cut off");
    await cluster.until("3 healthy members", () => cluster.isSettled(3), wholeMsMax);
  }
  const { results } = life;
  const of = "operator";
  await underClients(life, `${name}/a/`, (ledger) => strikeRepeatedly(life, { arena, ledger, results, of }));
  if (!life.isDone()) {
    await underClients(life, `${name}/b/`, async (ledger) => {
      await strike({ arena, ledger, results, of }, upgradeUnderFire);
      await strikeRepeatedly(life, { arena, ledger, results, of });
    });
  }
  await remove(cluster);
}

/** With the store of its Backups, which are gone already: each disaster deletes its own. */
async function remove(cluster: ClusterUnderTour): Promise<void> {
  const { client, name, namespace } = cluster;
  for (const kind of [BackupStore, PersistentVolumeClaim, EtcdCluster] as readonly KindRef[])
    await client.delete(kind, { name, namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  await cluster.until(`the end of ${name}`, async () => (await cluster.leftovers()).length === 0, wholeMsMax);
}

async function underClients(life: Life, prefix: string, work: (writer: LedgerWriter) => Promise<void>): Promise<void> {
  const cluster = clusterOf(life);
  const endpoint = await cluster.clientEndpoint();
  await using writer = new LedgerWriter(endpoint, `${prefix}ledger/`);
  await using registers = new RegisterClients(async () => registerClient(endpoint), `${prefix}register/`);
  await work(writer);
  const { acknowledged, lost } = await writer.finish();
  const { operations, violations } = await registers.finish();
  life.results.add({ check: { acknowledged, lost: lost.length, operations, violations } });
  if (lost.length > 0) console.log(`LOST in ${cluster.name}: ${lost.slice(0, 5).join(", ")} …`);
  for (const violation of violations) console.log(`NOT LINEARIZABLE: ${violation.slice(0, 2_000)}`);
}

async function strikeRepeatedly({ isDone, only }: Life, each: Strike<EtcdTarget>): Promise<void> {
  const { pick } = each.arena;
  for (let i = 0; i < strikesPerPeriod && !isDone(); i++)
    await strike(each, pickDisaster(chosen(etcdDisasters, only), pick));
}

/**
 * A node waits longer and longer before it restarts what ends again and again, so a plain cluster is struck a
 * few times only.
 */
const strikesPerPlainCluster = 6;

/** The same measure of three members without an operator, whose node restarts what was killed. */
async function strikePlain(client: Client, results: Results, wanted: number): Promise<void> {
  const plain = new PlainCluster(client);
  await plain.create();
  try {
    await untilWhole(plain);
    await using writer = new LedgerWriter(await plain.endpoint(), "plain/ledger/");
    for (let i = 0; i < strikesPerPlainCluster && results.countPlain < wanted; i++) {
      const leader = await untilWhole(plain);
      writer.mark();
      const startMs = performance.now();
      plain.kill(leader);
      await delay(300);
      const next = await untilWhole(plain);
      results.add({
        failover: {
          target: plainTarget,
          disaster: "kill the leader",
          outageMs: Math.round(writer.gapMs),
          wholeMs: Math.round(performance.now() - startMs),
          leaderChanged: next !== leader,
        },
      });
    }
    const { acknowledged, lost } = await writer.finish();
    results.add({ check: { acknowledged, lost: lost.length, operations: 0, violations: [] } });
  } finally {
    await plain.delete();
  }
}

async function untilWhole(plain: PlainCluster): Promise<string> {
  for (const endMs = performance.now() + wholeMsMax; performance.now() < endMs; await delay(100)) {
    const leader = await plain.wholeLeader().catch(() => undefined);
    if (leader !== undefined) return leader;
  }
  throw new Error(`the plain cluster was not whole within ${wholeMsMax / 1_000} s`);
}
