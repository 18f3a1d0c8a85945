/**
 * `npm run campaign -- [etcd|postgres] [--failovers 1000] [--plain 50] [--clusters 2] [--seed 1]
 * [--state FOLDER] [--disaster TEXT]`:
 * strikes clusters of a database on an embedded cluster until that many failovers are on
 * record, while clients keep a ledger and a history. It fails when an acknowledged write is lost that no
 * status declared, or when what clients saw is not what the database promises. It adds to what `--state` has,
 * so it can be interrupted.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startCluster } from "@setpoint/cli";
import { createClient } from "@setpoint/client";
import { seededRandom } from "@setpoint/host/simulated";
import { type NetworkNamespace, readHolder } from "@setpoint/process-node";
import { applyFile } from "../../examples/etcd/install.ts";
import { asked, refuse, wholeNumber } from "../../tools/flags/asked.ts";
import type { Engine, Life, Place } from "./engine.ts";
import { etcdEngine } from "./etcd/etcd-campaign.ts";
import { keepEvidence } from "./evidence.ts";
import { postgresEngine } from "./postgres/postgres-campaign.ts";
import { Results } from "./results.ts";
import { VolumesDisk } from "./volumes-disk.ts";

const { values, positionals } = asked("campaign", {
  allowPositionals: true,
  options: {
    failovers: { type: "string", default: "1000" },
    plain: { type: "string", default: "50" },
    clusters: { type: "string", default: "2" },
    seed: { type: "string", default: "1" },
    state: { type: "string" },
    disaster: { type: "string" },
  },
});
const engine = engineOf(positionals);
const wanted = wholeNumber("campaign", "failovers", values.failovers);
const wantedPlain = wholeNumber("campaign", "plain", values.plain);
const parallel = wholeNumber("campaign", "clusters", values.clusters, 1);
const seed = wholeNumber("campaign", "seed", values.seed);
const results = new Results(resolve(values.state ?? defaultFolder(engine)), engine.words);

/** What `startCluster` calls its only node. */
const nodeName = "node-1";
/** So many clusters that failed say enough. */
const failuresMax = 5;
const reportEvery = 20;

function engineOf([name = etcdEngine.name, ...more]: readonly string[]): Engine {
  const engines = [etcdEngine, postgresEngine];
  const found = more.length === 0 ? engines.find((each) => each.name === name) : undefined;
  const names = engines.map((each) => each.name).join(" or ");
  return found ?? refuse(`Cannot campaign: "${[name, ...more].join(" ")}" is no engine of it; use ${names}`);
}

function defaultFolder({ name }: Engine): string {
  return name === etcdEngine.name ? ".setpoint/campaign" : `.setpoint/campaign-${name}`;
}

const isDone = (): boolean => results.count >= wanted || results.failures.length >= failuresMax;

/** One cluster after the other. A failed one is on record, and the next begins. */
async function runLane(lane: number, place: Place, data: string): Promise<void> {
  const random = seededRandom(seed + 1_000 * lane + results.failovers.length);
  const pick = (below: number): number => Math.floor(random.next() * below);
  const isFirst = lane === 0 && results.count === 0;
  for (let number = 0; !isDone(); number++) {
    const name = `c${lane}-${number}`;
    const life = {
      ...place,
      name,
      namespace: "default",
      number,
      results,
      pick,
      isDone,
      isFirst: isFirst && number === 0,
    };
    const before = results.count;
    await engine.live(life).catch((error: unknown) => recordFailure(life, data, error));
    if (Math.floor(before / reportEvery) < Math.floor(results.count / reportEvery)) report();
  }
}

async function recordFailure(life: Life, data: string, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`${life.name} failed: ${message}`);
  results.add({ failure: { cluster: life.name, message } });
  keepEvidence(data, results.folder, life.name);
  await engine.clear(life);
}

function report(): void {
  console.log(`${results.count} of ${wanted} failovers; load average ${loadavg()[0]?.toFixed(1)}`);
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
  await applyFile(client, engine.manifests);
  const network = networkOf(data);
  const { strikePlain } = engine;
  while (strikePlain !== undefined && results.countPlain < wantedPlain)
    await Promise.race([strikePlain(client, results, wantedPlain), interrupted]);
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const place = { client, kubeconfig, network, disk, only: values.disaster };
  const lanes = Array.from({ length: parallel }, (_, lane) => runLane(lane, place, data));
  await Promise.race([Promise.all(lanes), interrupted]);
}

let isInterrupted = false;
try {
  await run();
} catch (error) {
  console.error(error);
  isInterrupted = true;
}
const { text, holds } = results.summary();
console.log(`${text}\nload average ${loadavg()[0]?.toFixed(1)}\n${holds ? "holds" : "FAILS"}`);
process.exit(holds && !isInterrupted ? 0 : 1);
