/**
 * `npm run campaign -- [--failovers 1000] [--plain 50] [--clusters 2] [--seed 1] [--state FOLDER]`: strikes
 * etcd clusters on an embedded cluster until that many failovers are on record, while clients write a ledger
 * and use registers. It fails when an acknowledged write is lost, or when what clients saw of a register is
 * not linearizable. It adds to what `--state` has, so it can be interrupted.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startCluster } from "@setpoint/cli";
import { isNotFound } from "@setpoint/apimachinery";
import { type Client, createClient, type KindRef } from "@setpoint/client";
import { BackupStore } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { seededRandom } from "@setpoint/host/simulated";
import { type NetworkNamespace, readHolder } from "@setpoint/process-node";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { applyFile } from "../../examples/etcd/install.ts";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { LedgerWriter } from "../../examples/etcd/tour/ledger-writer.ts";
import { asked, wholeNumber } from "../../tools/flags/asked.ts";
import { type Arena, type Disaster, kill, leaderOf, pickDisaster } from "./disasters.ts";
import { checkKnownBad } from "./known-bad.ts";
import { PlainCluster } from "./plain-cluster.ts";
import { registerClient, RegisterClients } from "./register-clients.ts";
import { Results } from "./results.ts";
import { VolumesDisk } from "./volumes-disk.ts";

const { values } = asked("campaign", {
  options: {
    failovers: { type: "string", default: "1000" },
    plain: { type: "string", default: "50" },
    clusters: { type: "string", default: "2" },
    seed: { type: "string", default: "1" },
    state: { type: "string", default: ".setpoint/campaign" },
  },
});
const wanted = wholeNumber("campaign", "failovers", values.failovers);
const wantedPlain = wholeNumber("campaign", "plain", values.plain);
const parallel = wholeNumber("campaign", "clusters", values.clusters, 1);
const seed = wholeNumber("campaign", "seed", values.seed);
const results = new Results(resolve(values.state));

const manifests = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url).pathname;
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const namespace = "default";
/** What `startCluster` calls its only node. */
const nodeName = "node-1";
/** A cluster is struck this often in each version; then its ledger is checked. */
const strikesPerPeriod = 12;
const wholeMsMax = 180_000;
const volumes = {
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "512Mi" } } },
} satisfies Partial<EtcdCluster["spec"]>;

const isDone = (): boolean => results.count("operator") >= wanted;

/** One cluster from its creation, through an upgrade, to its deletion, struck all the time. */
async function live(client: Client, name: string, place: Omit<Arena, "cluster">): Promise<void> {
  const cluster = new ClusterUnderTour(client, name, namespace, operator);
  const spec = { size: 3, version: "3.4.23", ...volumes } as const;
  await client.create(EtcdCluster, EtcdCluster({ name, namespace, spec }));
  await cluster.until(`the start of ${name}`, () => cluster.isSettled(3), wholeMsMax);
  const arena = { cluster, ...place };
  if (results.count("operator") === 0) {
    await checkKnownBad(arena);
    console.log("The checker finds the stale read of a member that is cut off");
    await cluster.until("3 healthy members", () => cluster.isSettled(3), wholeMsMax);
  }
  await underClients(cluster, `${name}/a/`, (writer) => strikeRepeatedly(arena, writer));
  if (!isDone()) {
    await underClients(cluster, `${name}/b/`, async (writer) => {
      await strike(arena, writer, upgradeUnderFire);
      await strikeRepeatedly(arena, writer);
    });
  }
  await removeStore(cluster);
  await client.delete(EtcdCluster, { name, namespace });
  await cluster.until(`the end of ${name}`, async () => (await cluster.leftovers()).length === 0, wholeMsMax);
}

/** The Backups in it are gone already: each disaster deletes its own. */
async function removeStore({ client, name, namespace }: ClusterUnderTour): Promise<void> {
  for (const kind of [BackupStore, PersistentVolumeClaim] as readonly KindRef[])
    await client.delete(kind, { name, namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

const upgradeUnderFire: Disaster = {
  name: "kill the leader during an upgrade",
  weight: 0,
  async strike({ cluster, pick }) {
    await cluster.patch({ version: "3.5.16" });
    await delay(pick(4_000));
    kill(await leaderOf(cluster));
    await cluster.until("the upgrade", () => cluster.isSettled(3, "3.5.16"), wholeMsMax);
  },
};

async function underClients(
  cluster: ClusterUnderTour,
  prefix: string,
  work: (writer: LedgerWriter) => Promise<void>,
): Promise<void> {
  const endpoint = await cluster.clientEndpoint();
  await using writer = new LedgerWriter(endpoint, `${prefix}ledger/`);
  await using registers = new RegisterClients(async () => registerClient(endpoint), `${prefix}register/`);
  await work(writer);
  const { acknowledged, lost } = await writer.finish();
  const { operations, violations } = await registers.finish();
  results.add({ check: { acknowledged, lost: lost.length, operations, violations } });
  if (lost.length > 0) console.log(`LOST in ${cluster.name}: ${lost.slice(0, 5).join(", ")} …`);
  for (const violation of violations) console.log(`NOT LINEARIZABLE: ${violation.slice(0, 2_000)}`);
}

async function strikeRepeatedly(arena: Arena, writer: LedgerWriter): Promise<void> {
  for (let i = 0; i < strikesPerPeriod && !isDone(); i++) await strike(arena, writer, pickDisaster(arena.pick));
}

async function strike(arena: Arena, writer: LedgerWriter, disaster: Disaster): Promise<void> {
  const { cluster } = arena;
  const before = await leaderOf(cluster);
  writer.mark();
  const startMs = performance.now();
  await disaster.strike(arena);
  // The status may still be that of before; a moment later it is not.
  await delay(300);
  await cluster.until(`3 healthy members after "${disaster.name}"`, () => isWhole(cluster, writer), wholeMsMax);
  const leaderChanged = (await leaderOf(cluster)).id !== before.id;
  const failover = {
    target: "operator",
    disaster: disaster.name,
    outageMs: Math.round(writer.gapMs),
    wholeMs: Math.round(performance.now() - startMs),
    leaderChanged,
  } as const;
  results.add({ failover });
  const count = results.count("operator");
  if (count % 20 === 0) console.log(`${count} of ${wanted} failovers; load average ${loadavg()[0]?.toFixed(1)}`);
}

/** The operator is done, every member answers, and writes are acknowledged. */
async function isWhole(cluster: ClusterUnderTour, writer: LedgerWriter): Promise<boolean> {
  if (!(await cluster.isSettled(3))) return false;
  if ((await cluster.etcdStatuses()).length !== 3) return false;
  const { acknowledged } = writer;
  await delay(100);
  return writer.acknowledged > acknowledged;
}

/**
 * A node waits longer and longer before it restarts what ends again and again, so a plain cluster is struck a
 * few times only.
 */
const strikesPerPlainCluster = 6;

/** The same measure of three members without an operator, whose node restarts what was killed. */
async function strikePlain(client: Client): Promise<void> {
  const plain = new PlainCluster(client);
  await plain.create();
  try {
    await untilWhole(plain);
    await using writer = new LedgerWriter(await plain.endpoint(), "plain/ledger/");
    for (let i = 0; i < strikesPerPlainCluster && results.count("plain") < wantedPlain; i++) {
      const leader = await untilWhole(plain);
      writer.mark();
      const startMs = performance.now();
      plain.kill(leader);
      await delay(300);
      const next = await untilWhole(plain);
      results.add({
        failover: {
          target: "plain",
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

function networkOf(directory: string): NetworkNamespace {
  const holder = readHolder(join(directory, "network-namespace.json"));
  if (holder === undefined) throw new Error("the campaign needs pods with a network of their own; run it as root");
  return { holderPid: holder.pid, isRootless: process.getuid?.() !== 0 };
}

/** Rejects on ^C, so that everything that was started is stopped; the results so far are on record. */
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => reject(new Error(`ended by ${signal}`)));
});

async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-campaign-"));
  await using parts = new AsyncDisposableStack();
  parts.defer(() => rmSync(directory, { recursive: true, force: true }));
  const data = join(directory, "data");
  const disk = parts.use(VolumesDisk.mount(join(data, "nodes", nodeName, "volumes")));
  const cluster = parts.use(
    await startCluster({ directory: data, port: 0, nodes: 1, say: (line) => console.log(line) }),
  );
  const client = createClient(cluster.transport, cluster.host);
  await applyFile(client, manifests);
  const network = networkOf(data);
  while (results.count("plain") < wantedPlain) await Promise.race([strikePlain(client), interrupted]);
  const lives = Array.from({ length: parallel }, async (_, lane) => {
    const random = seededRandom(seed + 1_000 * lane + results.failovers.length);
    const pick = (below: number): number => Math.floor(random.next() * below);
    for (let life = 0; !isDone(); life++) await live(client, `c${lane}-${life}`, { network, disk, pick });
  });
  await Promise.race([Promise.all(lives), interrupted]);
}

try {
  await run();
} catch (error) {
  console.error(error);
  process.exit(1);
}
const { text, holds } = results.summary();
console.log(`${text}\nload average ${loadavg()[0]?.toFixed(1)}\n${holds ? "holds" : "FAILS"}`);
process.exit(holds ? 0 : 1);
